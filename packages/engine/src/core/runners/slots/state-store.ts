// The physical states of recurrent layers: one pool for each state of each layer, which all sequences share,
//
//     [entries, ...shape]   float32
//
// Calls read and write entries by number, so no state is ever copied or moved. Memory of entries that were never written costs nothing
// but what a large page has of it: the arrays are fresh zero pages, never filled.

import type { OrtBackend, OrtTensor } from '@ortler/onnxruntime';
import { EngineError } from '../../../errors.ts';
import {
  type LayerCache,
  pastStateName,
  presentStateName,
  stateBytes,
} from '../../../graph-contract/index.ts';

export class StateStore {
  /** By graph name; both maps hold the same tensors. Empty for models without recurrent layers. */
  readonly inputs = new Map<string, OrtTensor>();
  readonly outputs = new Map<string, OrtTensor>();
  /** All entries. Unit: bytes. */
  readonly byteLength: number;

  /** Throws: `engine_failed` when there is no room for the arrays. */
  constructor(backend: OrtBackend, layers: readonly LayerCache[], entryCount: number) {
    this.byteLength = entryCount * stateBytes(layers);
    for (const [layer, { states = [] }] of layers.entries()) {
      for (const [index, shape] of states.entries()) {
        const size = shape.reduce((product, dim) => product * dim, 1);
        const tensor = backend.createTensor(
          'float32',
          [entryCount, ...shape],
          this.#allocate(backend, entryCount * size),
        );
        this.inputs.set(pastStateName(layer, index), tensor);
        this.outputs.set(presentStateName(layer, index), tensor);
      }
    }
  }

  #allocate(backend: OrtBackend, length: number): Float32Array {
    try {
      const { buffer, byteOffset } = backend.allocateZeros(Float32Array.BYTES_PER_ELEMENT * length);
      return new Float32Array(buffer, byteOffset, length);
    } catch (cause) {
      const message = `The states of a layer take up to ${(4 * length) / 2 ** 20} MiB, which cannot be reserved; lower maxSequences.`;
      throw new EngineError('engine_failed', message, { cause });
    }
  }

  dispose(): void {
    for (const tensor of this.inputs.values()) tensor.dispose();
    this.inputs.clear();
    this.outputs.clear();
  }
}

/**
 * Memory for what prefix caching keeps of a model besides slots: states, unless the slots of cached prefixes need more, or pieces of
 * rings. Unit: bytes.
 */
export const KEPT_BYTES = 512 * 2 ** 20;

/** Interval between kept states of a prompt: a cache hit recomputes half of it, on average. Unit: tokens. */
export const STATE_INTERVAL = 512;

/** What decides the number of states. */
export interface StateDemand {
  readonly maxSequences: number;
  readonly slotCount: number;
  readonly contextLength: number;
  readonly prefixCaching: boolean;
  /** Maximum number of tokens in a draft; 0 without speculative decoding. */
  readonly longestDraft: number;
}

/**
 * States of the pool: two of each running sequence, which its steps read and write in turns, and those that are kept. Without prefix
 * caching these are one after each token of a draft, and one after a prompt for the other choices of its request.
 */
export function countStates(
  layers: readonly LayerCache[],
  { maxSequences, slotCount, contextLength, prefixCaching, longestDraft }: StateDemand,
): number {
  const affordable = Math.floor(KEPT_BYTES / stateBytes(layers));
  const [min, max] = prefixCaching
    ? [slotCount, slotCount * (Math.ceil(contextLength / STATE_INTERVAL) + 3)]
    : [1, maxSequences * longestDraft + 1];
  return 2 * maxSequences + Math.max(min, Math.min(affordable, max));
}
