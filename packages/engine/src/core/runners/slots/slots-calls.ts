// Prepared calls of the graphs of a model with slots: their inputs in arrays that are refilled, their part of the cache, and
// the memory of their logits. Caller: `slots-runner.ts`.

import type { OrtBackend, OrtBinding, OrtSession, OrtTensor } from '@ortler/onnxruntime';
import { assertInvariant } from '../../../errors.ts';
import { SLOTS_OUTPUT } from '../../../graph-contract.ts';
import type { CallConvention, CallInputs, CallShape } from '../conventions/call-convention.ts';
import { BatchInputs } from '../conventions/lengths-convention.ts';
import { createLogits } from '../logits-memory.ts';
import type { RunnerRow } from '../model-runner.ts';
import { PreparedCalls } from '../prepared-calls.ts';
import type { Int8Cache } from './int8-cache.ts';
import type { KvStore } from './slot-store.ts';
import type { SlotsGraphs } from './slots-graphs.ts';

/** A call whose arrays are refilled and run again. */
export interface PreparedCall {
  readonly inputs: CallInputs;
  /** Null for the prefill graph. */
  readonly logits: OrtTensor | null;
  /** Rows of logits before the first of those that were asked for. */
  readonly firstRow: number;
  readonly binding: OrtBinding;
  /** Frees further memory of the call. */
  readonly dispose?: () => void;
}

/** One token each of the first slots. */
export interface Decodes {
  readonly rowCount: number;
  /** Tokens of the longest of their sequences after the call. */
  readonly longest: number;
}

/** Shared by all calls of a model. */
export interface CallParts {
  readonly backend: OrtBackend;
  readonly graphs: SlotsGraphs;
  readonly convention: CallConvention;
  readonly store: KvStore;
  /** Undefined for a float32 cache. */
  readonly int8Cache: Int8Cache | undefined;
  readonly vocabSize: number;
  readonly slotCount: number;
  /** Where decodes write. */
  readonly logits: Float32Array;
  /** Where chunks write. */
  readonly chunkLogits: Float32Array;
}

/**
 * Prepared calls of prompt chunks that are kept, the least recently used one is dropped first. Whole chunks are
 * one per slot; the last chunk of a prompt has any length and is cheap to prepare (about 0.1 ms).
 */
const CHUNK_CALL_LIMIT = 64;

/** The same of decodes, at least. */
const DECODE_CALL_LIMIT = 64;

export class SlotsCalls {
  readonly #parts: CallParts;
  /** By batch size and span. */
  readonly #decodes: PreparedCalls<PreparedCall>;
  /** By slot, length, positions with logits and span. */
  readonly #chunks = new PreparedCalls<PreparedCall>(CHUNK_CALL_LIMIT, disposeCall);

  constructor(parts: CallParts) {
    this.#parts = parts;
    // Without spans, those of all batch sizes are kept.
    this.#decodes = new PreparedCalls(Math.max(parts.slotCount, DECODE_CALL_LIMIT), disposeCall);
  }

  decode({ rowCount, longest }: Decodes): PreparedCall {
    const { convention, logits } = this.#parts;
    const span = convention.span(longest);
    const shape = { batchSize: rowCount, length: 1, logitsPerRow: 1, span };
    return this.#decodes.take(`${rowCount}/${span}`, () => this.#prepare(0, shape, logits));
  }

  /** All tokens of the row, with logits. */
  chunk({ slot, tokenIds: { length }, computedLength, logitsCount }: RunnerRow): PreparedCall {
    const { convention, chunkLogits } = this.#parts;
    // The graph computes logits for at least one position, also where they are not read.
    const logitsPerRow = Math.max(1, logitsCount);
    const span = convention.span(computedLength + length);
    const shape = { batchSize: 1, length, logitsPerRow, span };
    const key = `${slot}/${length}/${logitsPerRow}/${span}`;
    return this.#chunks.take(key, () => this.#prepare(slot, shape, chunkLogits));
  }

  /** The first `length` tokens of the row, into the cache only. */
  prefill(graph: OrtSession, { slot, computedLength }: RunnerRow, length: number): PreparedCall {
    const { backend, store, int8Cache } = this.#parts;
    const span = int8Cache?.span(computedLength + length) ?? 0;
    return this.#chunks.take(`prefill/${slot}/${length}/${span}`, () => {
      const inputs = new BatchInputs(backend, { batchSize: 1, length, logitsPerRow: 0 });
      const cache = store.view(slot, 1);
      const dequantised = int8Cache?.dequantise(graph, span);
      const binding = graph.bind(
        new Map([...inputs.tensors, ...cache.inputs, ...(dequantised?.inputs ?? [])]),
        new Map([...cache.outputs, ...(dequantised?.outputs ?? [])]),
      );
      const call = { inputs, logits: null, firstRow: 0, binding };
      return dequantised === undefined ? call : { ...call, dispose: () => dequantised.dispose() };
    });
  }

  dispose(): void {
    this.#decodes.dispose();
    this.#chunks.dispose();
  }

  /** Logits go to the start of `target`. */
  #prepare(firstSlot: number, shape: CallShape, target: Float32Array): PreparedCall {
    const { backend, graphs, convention, store, int8Cache, vocabSize } = this.#parts;
    const inputs = convention.createInputs(shape);
    const cache = store.view(firstSlot, shape.batchSize);
    const { dims, firstRow } = convention.logitsPlace(shape);
    const logits = createLogits(backend, [...dims, vocabSize], target);
    const binding = graphs.main.bind(
      new Map([...inputs.tensors, ...cache.inputs, ...(int8Cache?.inputs ?? [])]),
      new Map([[SLOTS_OUTPUT.logits, logits], ...cache.outputs]),
    );
    return { inputs, logits, firstRow, binding };
  }
}

/** Leading rows that are one token with logits in slots 0, 1, 2, ...: what one call can do. */
export function leadingDecodes(rows: readonly RunnerRow[]): Decodes {
  let rowCount = 0;
  let longest = 0;
  for (const { slot, tokenIds, computedLength, logitsCount } of rows) {
    assertInvariant(tokenIds.length > 0, 'a row has tokens');
    if (slot !== rowCount || tokenIds.length !== 1 || logitsCount !== 1) break;
    rowCount++;
    longest = Math.max(longest, computedLength + 1);
  }
  return { rowCount, longest };
}

function disposeCall({ inputs, logits, binding, dispose }: PreparedCall): void {
  binding.dispose();
  dispose?.();
  logits?.dispose();
  inputs.dispose();
}
