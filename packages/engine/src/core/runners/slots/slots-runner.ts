// The runner for models with slots on the CPU: attention over a contiguous KV cache that is updated in place. All decodes are
// one call on the first slots of the pool, or on the slot of a single one; a chunk of a prompt is one call on its own slot.

import { resolve } from 'node:path';
import type { OrtBackend, OrtSession, OrtSessionOptions } from '@ortler/onnxruntime';
import { assertInvariant } from '../../../errors.ts';
import {
  CACHE_GROUP,
  cacheRowLength,
  layerCaches,
  longestWindow,
  type ModelManifest,
  ownsCache,
  REWIND_LENGTH,
  stateBytes,
  windowCapacity,
} from '../../../graph-contract/index.ts';
import { allocateRows } from '../../row-memory/row-memory.ts';
import type { CallConvention } from '../conventions/call-convention.ts';
import { inPieces } from '../conventions/call-convention.ts';
import { createConvention } from '../conventions/create-convention.ts';
import { countLogits } from '../logits-memory.ts';
import type {
  RunnerFacts,
  RunnerRow,
  RunOptions,
  SlotModelRunner,
  StatePool,
  WindowRings,
} from '../model-runner.ts';
import { unfitModel } from '../runner-errors.ts';
import { placeWeights } from './place-weights.ts';
import { KvStore } from './slot-store.ts';
import { leadingDecodes, SlotsCalls } from './slots-calls.ts';
import { countStates, STATE_INTERVAL, StateStore } from './state-store.ts';
import { createWindowRings } from './window-rings.ts';

export interface SlotsRunnerOptions extends OrtSessionOptions {
  readonly slotCount: number;
  /** Sequences that run at the same time, at most. Default: one in each slot. */
  readonly maxSequences?: number;
  /** Maximum number of tokens in a sequence; at most what the manifest says. */
  readonly contextLength: number;
  /** Maximum number of tokens in a row. Default: the context, which leaves no ring shorter than it. */
  readonly longestRow?: number;
  /** See `REWIND_LENGTH`, the default. */
  readonly rewindLength?: number;
  /** Whether the pool of states has room for those of cached prompts. Default: true. */
  readonly prefixCaching?: boolean;
  /** Maximum number of tokens in a draft. Default: 0. */
  readonly longestDraft?: number;
}

/**
 * Throws: `model_invalid` when a graph cannot be loaded or has other inputs and outputs than expected, or when the machine
 * is too small for the cache; `engine_failed` when there is no room for it now.
 */
export async function createSlotsRunner(
  backend: OrtBackend,
  modelDir: string,
  manifest: ModelManifest,
  options: SlotsRunnerOptions,
): Promise<SlotModelRunner> {
  const { memoryNote, ...weights } = await placeWeights(modelDir, manifest);
  const session = await backend.createSession(resolve(modelDir, manifest.graphFile), {
    ...options,
    ...weights,
  });
  let runner: SlotsRunner;
  try {
    runner = new SlotsRunner(backend, session, manifest, { ...options, memoryNote });
  } catch (cause) {
    session.dispose();
    throw cause;
  }
  try {
    await runner.warmUp();
  } catch (cause) {
    await runner.close();
    throw unfitModel(manifest.graphFile, modelDir, cause);
  }
  return runner;
}

class SlotsRunner implements SlotModelRunner {
  readonly cacheKind = 'slots';
  readonly facts: RunnerFacts;
  readonly rings: WindowRings | undefined;
  readonly states: StatePool | undefined;
  readonly #longestRow: number;
  readonly #session: OrtSession;
  readonly #convention: CallConvention;
  readonly #store: KvStore;
  readonly #stateStore: StateStore;
  readonly #calls: SlotsCalls;
  /**
   * Shape: `[logitsLimit, vocabSize]`. What `run` returns a part of; decodes write into it directly. Several threads may
   * sample from it, in place.
   */
  readonly #logits: Float32Array;
  /** Shape: `[maximum of one row, vocabSize]`. Where chunks write: their place in `#logits` differs from call to call. */
  readonly #chunkLogits: Float32Array;

  constructor(
    backend: OrtBackend,
    session: OrtSession,
    manifest: ModelManifest,
    options: SlotsRunnerOptions & { readonly memoryNote: string | undefined },
  ) {
    const {
      slotCount,
      contextLength,
      memoryNote,
      longestRow = contextLength,
      rewindLength = REWIND_LENGTH,
    } = options;
    const { vocabSize, kvType, variant } = manifest;
    this.#session = session;
    this.#longestRow = longestRow;
    const caches = layerCaches(manifest);
    const window = longestWindow(caches);
    const ringCapacity = window && windowCapacity(window, { contextLength, longestRow, rewindLength });
    const layers = caches.map(cache => {
      if (!ownsCache(cache)) return null;
      const { kvHeadCount, headSize, keysOnly, window: own } = cache;
      const ringLength = own === undefined ? undefined : ringCapacity;
      return { kvHeadCount, rowLength: cacheRowLength({ variant, kvType, headSize }), ringLength, keysOnly };
    });
    this.#store = new KvStore(backend, {
      layers,
      slotCount,
      capacity: contextLength,
      groupLength: variant === 'kernels' ? CACHE_GROUP : 1,
      type: kvType,
    });
    const rings =
      window === undefined || ringCapacity === undefined
        ? undefined
        : createWindowRings(this.#store.rings, { window, capacity: ringCapacity, slotCount, contextLength });
    this.rings = rings;
    const { maxSequences = slotCount, prefixCaching = true, longestDraft = 0 } = options;
    const demand = { maxSequences, slotCount, contextLength, prefixCaching, longestDraft };
    const count = stateBytes(caches) === 0 ? 0 : countStates(caches, demand);
    this.states = count === 0 ? undefined : { count, interval: STATE_INTERVAL };
    this.#stateStore = new StateStore(backend, caches, count);
    const logitsLimit = countLogits(slotCount, contextLength, vocabSize);
    this.#logits = allocateRows(logitsLimit * vocabSize);
    this.#chunkLogits = new Float32Array(logitsLimit * vocabSize);
    this.#convention = createConvention(backend, manifest, {
      inputNames: session.inputNames,
      batchLimit: slotCount,
      contextLength,
      logitsLimit,
      maskWidth: 'rounded',
    });
    this.#calls = new SlotsCalls({
      backend,
      session,
      convention: this.#convention,
      store: this.#store,
      stateStore: this.#stateStore,
      vocabSize,
      slotCount,
      logits: this.#logits,
      chunkLogits: this.#chunkLogits,
    });
    this.facts = {
      kind: 'slots',
      vocabSize,
      contextLength,
      slotCount,
      logitsLimit,
      backend: backend.name,
      device: 'cpu',
      onnxRuntimeVersion: backend.version,
      cacheBytes: this.#store.byteLength + this.#stateStore.byteLength + (rings?.byteLength ?? 0),
      ...(variant === 'kernels' && 'isa' in backend.kernels ? { kernels: backend.kernels.isa } : {}),
      ...(memoryNote === undefined ? {} : { memoryNote }),
    };
  }

  /** Runs some tokens, so that a graph that does not fit fails here and not in the first request. */
  async warmUp(): Promise<void> {
    const { contextLength } = this.facts;
    const tokenIds = new Int32Array(Math.min(contextLength, 2));
    await this.run([{ slot: 0, tokenIds, computedLength: 0, logitsCount: 1 }]);
  }

  async run(rows: readonly RunnerRow[], options?: RunOptions): Promise<Float32Array> {
    const { vocabSize } = this.facts;
    for (const { tokenIds } of rows)
      assertInvariant(
        tokenIds.length <= this.#longestRow,
        'a row has at most as many tokens as caches have room for',
      );
    const decodes = leadingDecodes(rows);
    const decodeCount = decodes.rowCount;
    if (decodeCount > 0) {
      const call = this.#calls.decode(decodes);
      call.inputs.fill(rows);
      await call.binding.run(options);
    }
    let logitsEnd = decodeCount * vocabSize;
    for (let index = decodeCount; index < rows.length; index++) {
      for (const piece of inPieces(rows[index]!, this.#convention.chunkLimit)) {
        const call = this.#calls.chunk(piece);
        call.inputs.fill([piece]);
        await call.binding.run();
        const start = call.firstRow * vocabSize;
        const length = piece.logitsCount * vocabSize;
        assertInvariant(
          logitsEnd + length <= this.#logits.length,
          'a step asks for at most logitsLimit rows',
        );
        this.#logits.set(this.#chunkLogits.subarray(start, start + length), logitsEnd);
        logitsEnd += length;
      }
    }
    return this.#logits.subarray(0, logitsEnd);
  }

  copySlot(from: number, to: number, length: number): void {
    this.#store.copySlot(from, to, length);
  }

  swapSlots(a: number, b: number, length: number): void {
    this.#store.swapSlots(a, b, length);
  }

  async close(): Promise<void> {
    this.#calls.dispose();
    this.#store.dispose();
    this.#stateStore.dispose();
    this.#session.dispose();
  }
}
