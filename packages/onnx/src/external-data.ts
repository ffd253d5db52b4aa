// Streams the weights of a graph into one file beside the model file. Every tensor has a fixed place before
// the first byte is produced, so a group may fill several tensors at once and nothing is held in memory.

import type { FileHandle } from 'node:fs/promises';
import { assertInvariant } from './errors.ts';
import { type GraphRecorder, tensorBytes } from './graph.ts';
import type { TensorPlacement } from './model-proto.ts';

/** Tensors up to this size live in the model file: shape inference needs the constants among them. Unit: bytes. */
const INLINE_LIMIT_BYTES = 1024;

/** Offsets are whole memory pages, so that the runtime can map a tensor instead of copying it. Unit: bytes. */
const ALIGNMENT_BYTES = 4096;

export interface WriteWeightsOptions {
  /** Name of the data file as the model file will refer to it. */
  readonly fileName: string;
  readonly onBytes?: (bytes: number) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes all weights of `graph` and says where each is.
 *
 * Mutates: `file`, from its start. Throws: whatever a producer throws, the reason of `signal`, I/O errors.
 */
export async function writeWeights(
  graph: GraphRecorder,
  file: FileHandle,
  options: WriteWeightsOptions,
): Promise<Map<string, TensorPlacement>> {
  const placements = planPlacements(graph, options.fileName);
  for (const group of graph.weights) {
    const written = group.tensors.map(() => 0);
    for await (const part of group.produce()) {
      options.signal?.throwIfAborted();
      for (let i = 0; i < group.tensors.length; i++) {
        const tensor = group.tensors[i]!;
        const bytes = part[i]!;
        assertInvariant(written[i]! + bytes.length <= tensorBytes(tensor), `${tensor.name} is too long`);
        await writeAt(file, placements.get(tensor.name)!, written[i]!, bytes);
        written[i]! += bytes.length;
        options.onBytes?.(bytes.length);
      }
    }
    for (const [i, tensor] of group.tensors.entries()) {
      assertInvariant(written[i] === tensorBytes(tensor), `${tensor.name} is incomplete`);
    }
  }
  return placements;
}

/** Bytes that writing the graph will report through `onBytes`. */
export function totalWeightBytes({ weights }: GraphRecorder): number {
  return weights.flatMap(({ tensors }) => tensors).reduce((total, tensor) => total + tensorBytes(tensor), 0);
}

function planPlacements(graph: GraphRecorder, fileName: string): Map<string, TensorPlacement> {
  const placements = new Map<string, TensorPlacement>();
  let end = 0;
  for (const tensor of graph.weights.flatMap(group => group.tensors)) {
    const length = tensorBytes(tensor);
    if (length <= INLINE_LIMIT_BYTES) {
      placements.set(tensor.name, { kind: 'inline', bytes: new Uint8Array(length) });
      continue;
    }
    const offset = Math.ceil(end / ALIGNMENT_BYTES) * ALIGNMENT_BYTES;
    placements.set(tensor.name, { kind: 'external', file: fileName, offset, length });
    end = offset + length;
  }
  return placements;
}

async function writeAt(
  file: FileHandle,
  placement: TensorPlacement,
  done: number,
  bytes: Uint8Array,
): Promise<void> {
  if (placement.kind === 'inline') {
    placement.bytes.set(bytes, done);
    return;
  }
  let from = 0;
  while (from < bytes.length) {
    const { bytesWritten } = await file.write(
      bytes,
      from,
      bytes.length - from,
      placement.offset + done + from,
    );
    from += bytesWritten;
  }
}
