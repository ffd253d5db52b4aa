// Prepared calls of the graph of a model with slots: their inputs in arrays that are refilled, their part of the cache, and
// the memory of their logits. Caller: `slots-runner.ts`.

import type { OrtBackend, OrtBinding, OrtSession, OrtTensor } from '@ortler/onnxruntime';
import { assertInvariant } from '../../../errors.ts';
import { SLOTS_OUTPUT } from '../../../graph-contract/index.ts';
import type { CallConvention, CallInputs, CallShape } from '../conventions/call-convention.ts';
import { createLogits } from '../logits-memory.ts';
import type { RunnerRow } from '../model-runner.ts';
import { PreparedCalls } from '../prepared-calls.ts';
import type { KvStore } from './slot-store.ts';
import type { StateStore } from './state-store.ts';

/** A call whose arrays are refilled and run again. */
export interface PreparedCall {
  readonly inputs: CallInputs;
  readonly logits: OrtTensor;
  /** Rows of logits before the first of those that were asked for. */
  readonly firstRow: number;
  readonly binding: OrtBinding;
}

/** One token each of the first slots, or of any one slot. */
export interface Decodes {
  readonly firstSlot: number;
  readonly rowCount: number;
  /** Tokens of the longest of their sequences after the call. */
  readonly longest: number;
}

/** Shared by all calls of a model. */
export interface CallParts {
  readonly backend: OrtBackend;
  readonly session: OrtSession;
  readonly convention: CallConvention;
  readonly store: KvStore;
  readonly stateStore: StateStore;
  readonly vocabSize: number;
  readonly slotCount: number;
  /** Where decodes write. */
  readonly logits: Float32Array;
  /** Where chunks write. */
  readonly chunkLogits: Float32Array;
}

/**
 * Maximum number of prepared calls of prompt chunks that are kept; the least recently used one is dropped
 * first. Whole chunks are one per slot; the last chunk of a prompt has any length and is cheap to prepare
 * (about 0.1 ms).
 */
const CHUNK_CALL_LIMIT = 64;

/** Minimum number of prepared calls of decodes that are kept. */
const DECODE_CALL_LIMIT = 64;

export class SlotsCalls {
  readonly #parts: CallParts;
  /** By first slot, batch size and span. */
  readonly #decodes: PreparedCalls<PreparedCall>;
  /** By slot, length, positions with logits and span. */
  readonly #chunks = new PreparedCalls<PreparedCall>(CHUNK_CALL_LIMIT, disposeCall);

  constructor(parts: CallParts) {
    this.#parts = parts;
    // Without spans, those of all batch sizes and of all slots alone are kept.
    this.#decodes = new PreparedCalls(Math.max(2 * parts.slotCount, DECODE_CALL_LIMIT), disposeCall);
  }

  decode({ firstSlot, rowCount, longest }: Decodes): PreparedCall {
    const { convention, logits } = this.#parts;
    const span = convention.span(longest);
    const shape = { batchSize: rowCount, length: 1, logitsPerRow: 1, span };
    const key = `${firstSlot}/${rowCount}/${span}`;
    return this.#decodes.take(key, () => this.#prepare(firstSlot, shape, logits));
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

  dispose(): void {
    this.#decodes.dispose();
    this.#chunks.dispose();
  }

  /** Logits go to the start of `target`. */
  #prepare(firstSlot: number, shape: CallShape, target: Float32Array): PreparedCall {
    const { backend, session, convention, store, stateStore, vocabSize } = this.#parts;
    const inputs = convention.createInputs(shape);
    const cache = store.view(firstSlot, shape.batchSize);
    const { dims, firstRow } = convention.logitsPlace(shape);
    const logits = createLogits(backend, [...dims, vocabSize], target);
    const binding = session.bind(
      new Map([...inputs.tensors, ...cache.inputs, ...stateStore.inputs]),
      new Map([[SLOTS_OUTPUT.logits, logits], ...cache.outputs, ...stateStore.outputs]),
    );
    return { inputs, logits, firstRow, binding };
  }
}

/** Leading rows that are one token with logits in slots 0, 1, 2, ..., or the first one in any slot: what one call can do. */
export function leadingDecodes(rows: readonly RunnerRow[]): Decodes {
  const firstSlot = rows[0]?.slot ?? 0;
  let rowCount = 0;
  let longest = 0;
  for (const { slot, tokenIds, computedLength, logitsCount } of rows) {
    assertInvariant(tokenIds.length > 0, 'a row has tokens');
    const isNext = rowCount === 0 || (firstSlot === 0 && slot === rowCount);
    if (!isNext || tokenIds.length !== 1 || logitsCount !== 1) break;
    rowCount++;
    longest = Math.max(longest, computedLength + 1);
  }
  return { firstSlot, rowCount, longest };
}

function disposeCall({ inputs, logits, binding }: PreparedCall): void {
  binding.dispose();
  logits.dispose();
  inputs.dispose();
}
