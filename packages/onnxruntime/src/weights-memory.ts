// The weights of a model in memory of their own instead of a mapped file: in huge pages they are read a quarter faster.

import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type FoundGraph, type FoundWeight, OnnxError, readGraph } from '@ortler/onnx';
import type { OrtSessionOptions } from './backend.ts';
import { checkStatus, type Handle, type OrtCApi, receive } from './c-api.ts';
import { OrtError } from './errors.ts';
import { allocateInHugePages } from './huge-pages.ts';
import { toDimensions } from './native-value.ts';

/** Maximum number of bytes of one read. */
const READ_BYTES = 2 ** 28;

interface NamedValue {
  readonly name: string;
  readonly handle: Handle;
}

/** The weights of a graph that are in one data file, as values that a session uses where they are. */
export class WeightsMemory {
  readonly #api: OrtCApi;
  /** What the values point into. */
  readonly #memory: Uint8Array;
  readonly #values: readonly NamedValue[];

  private constructor(api: OrtCApi, memory: Uint8Array, values: readonly NamedValue[]) {
    this.#api = api;
    this.#memory = memory;
    this.#values = values;
  }

  /** Throws: `model_invalid` for a graph that cannot be read, and as the file system does. */
  static async read(
    { api, memoryInfo }: { readonly api: OrtCApi; readonly memoryInfo: Handle },
    graphFile: string,
    {
      weightsFile,
      mappedWeights = [],
    }: Pick<OrtSessionOptions, 'mappedWeights'> & { readonly weightsFile: string },
  ): Promise<WeightsMemory> {
    const ofFile = [...readWeights(graphFile).values()].filter(({ file }) => file === weightsFile);
    const isMapped = ({ name }: FoundWeight) => mappedWeights.some(start => name.startsWith(start));
    const path = join(dirname(graphFile), weightsFile);
    const memory = await readFile(path, ofFile.filter(isMapped));
    const values: NamedValue[] = [];
    for (const weight of ofFile) {
      const { name, offset, length, dims, onnxType } = weight;
      if (length === undefined || isMapped(weight)) continue;
      const content = memory.subarray(offset, offset + length);
      const handle = receive(api, 'model_invalid', `Taking ${name} from ${path}`, out =>
        // The numbers of element types are those of ONNX.
        api.functions.createTensorWithData(
          memoryInfo,
          content,
          content.byteLength,
          toDimensions(dims),
          dims.length,
          onnxType,
          out,
        ),
      );
      values.push({ name, handle });
    }
    return new WeightsMemory(api, memory, values);
  }

  /** Before the session is created. */
  addTo(sessionOptions: Handle): void {
    const { functions } = this.#api;
    for (const { name, handle } of this.#values) {
      const status = functions.addInitializer(sessionOptions, name, handle);
      const doing = `Using ${name} of ${this.#memory.byteLength} bytes of weights`;
      checkStatus(functions, status, 'model_invalid', doing);
    }
  }

  /** After the session was released. */
  dispose(): void {
    for (const { handle } of this.#values) this.#api.functions.releaseValue(handle);
  }
}

/** Throws: `model_invalid`. */
function readWeights(graphFile: string): FoundGraph['weights'] {
  try {
    return readGraph(graphFile).weights;
  } catch (cause) {
    if (cause instanceof OnnxError) throw new OrtError('model_invalid', cause.message, { cause });
    throw cause;
  }
}

/**
 * The content of a file, from the start of a huge page on, with zeros in place of what is `left` there: memory that nothing touches
 * takes none. Throws: as the file system does.
 */
async function readFile(path: string, left: readonly FoundWeight[]): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const weights = allocateInHugePages(size);
    let at = 0;
    const readUpTo = async (end: number) => {
      while (at < end) {
        const { bytesRead } = await file.read(weights, at, Math.min(READ_BYTES, end - at), at);
        if (bytesRead === 0) throw new Error(`${path} became shorter while it was read`);
        at += bytesRead;
      }
    };
    for (const { offset, length = 0 } of left.toSorted((a, b) => a.offset - b.offset)) {
      await readUpTo(offset);
      at = Math.max(at, offset + length);
    }
    await readUpTo(size);
    return weights;
  } finally {
    await file.close();
  }
}
