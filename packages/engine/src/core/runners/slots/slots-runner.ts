// The runner for models with slots on the CPU: GroupQueryAttention over a contiguous KV cache that is updated in place. All
// decodes are one call on the first slots of the pool; a chunk of a prompt is one call on its own slot. Where the model has
// a prefill graph, tokens that the row marks for it go through that one, into the same cache. An int8 KV cache is calibrated
// when the model is loaded.

import type { OrtBackend, OrtSessionOptions } from '@ortler/onnxruntime';
import { assertInvariant } from '../../../errors.ts';
import type { ModelManifest } from '../../../graph-contract.ts';
import type { CallConvention } from '../conventions/call-convention.ts';
import { inPieces } from '../conventions/call-convention.ts';
import { createConvention } from '../conventions/create-convention.ts';
import { countLogits } from '../logits-memory.ts';
import type { RunnerFacts, RunnerRow, SlotModelRunner } from '../model-runner.ts';
import { unfitModel } from '../runner-errors.ts';
import { calibrateCache } from './calibrate-cache.ts';
import { Int8Cache } from './int8-cache.ts';
import { KvStore } from './slot-store.ts';
import { leadingDecodes, SlotsCalls } from './slots-calls.ts';
import { SlotsGraphs } from './slots-graphs.ts';

export interface SlotsRunnerOptions extends OrtSessionOptions {
  readonly slotCount: number;
  /** Most tokens of a sequence; at most what the manifest says. */
  readonly contextLength: number;
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
  const graphs = await SlotsGraphs.open(backend, modelDir, manifest, options);
  let runner: SlotsRunner;
  try {
    runner = new SlotsRunner(backend, graphs, manifest, options);
  } catch (cause) {
    graphs.dispose();
    throw cause;
  }
  try {
    await runner.calibrate(manifest);
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
  readonly #backend: OrtBackend;
  readonly #graphs: SlotsGraphs;
  readonly #convention: CallConvention;
  readonly #store: KvStore;
  /** Undefined for a float32 cache. */
  readonly #int8Cache: Int8Cache | undefined;
  readonly #calls: SlotsCalls;
  /**
   * Shape: `[logitsLimit, vocabSize]`. What `run` returns a part of; decodes write into it directly. Shared memory, as several
   * threads may sample from it.
   */
  readonly #logits: Float32Array;
  /** Shape: `[most of one row, vocabSize]`. Where chunks write: their place in `#logits` differs from call to call. */
  readonly #chunkLogits: Float32Array;

  constructor(
    backend: OrtBackend,
    graphs: SlotsGraphs,
    manifest: ModelManifest,
    options: SlotsRunnerOptions,
  ) {
    const { slotCount, contextLength } = options;
    const { vocabSize, kvType } = manifest;
    assertInvariant(kvType !== 'float16', 'a slots graph has no float16 cache');
    this.#backend = backend;
    this.#graphs = graphs;
    const shape = { ...manifest, slotCount, capacity: contextLength, type: kvType };
    this.#store = new KvStore(backend, shape);
    this.#int8Cache = kvType === 'int8' ? new Int8Cache(backend, shape) : undefined;
    const logitsLimit = countLogits(slotCount, contextLength, vocabSize);
    this.#logits = new Float32Array(
      new SharedArrayBuffer(Float32Array.BYTES_PER_ELEMENT * logitsLimit * vocabSize),
    );
    this.#chunkLogits = new Float32Array(logitsLimit * vocabSize);
    this.#convention = createConvention(backend, manifest, {
      inputNames: graphs.main.inputNames,
      batchLimit: slotCount,
      contextLength,
      logitsLimit,
      maskWidth: 'rounded',
    });
    this.#calls = new SlotsCalls({
      backend,
      graphs,
      convention: this.#convention,
      store: this.#store,
      int8Cache: this.#int8Cache,
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
    };
  }

  /** Finds the scales of an int8 KV cache. Throws: `model_invalid` for a graph that does not fit. */
  async calibrate(model: ModelManifest): Promise<void> {
    const int8Cache = this.#int8Cache;
    if (int8Cache === undefined) return;
    const { prefill } = this.#graphs;
    assertInvariant(prefill !== undefined, 'a manifest with an int8 cache names a graph for prompts');
    const { contextLength } = this.facts;
    await calibrateCache({
      backend: this.#backend,
      prefill,
      store: this.#store,
      int8Cache,
      model,
      contextLength,
    });
  }

  /** Runs some tokens through each graph, so that one that does not fit fails here and not in the first request. */
  async warmUp(): Promise<void> {
    const { contextLength } = this.facts;
    const tokenIds = new Int32Array(Math.min(contextLength, 2));
    const row = { slot: 0, tokenIds, computedLength: 0, logitsCount: 1 };
    await this.run([{ ...row, prefillCount: tokenIds.length - 1 }]);
  }

  async run(rows: readonly RunnerRow[]): Promise<Float32Array> {
    const { vocabSize } = this.facts;
    const decodes = leadingDecodes(rows);
    const decodeCount = decodes.rowCount;
    if (decodeCount > 0) {
      const call = this.#calls.decode(decodes);
      call.inputs.fill(rows, 0);
      await call.binding.run();
    }
    let logitsEnd = decodeCount * vocabSize;
    for (let index = decodeCount; index < rows.length; index++) {
      const row = await this.#prefill(rows[index]!);
      if (row.tokenIds.length === 0) continue;
      for (const piece of inPieces(row, this.#convention.chunkLimit)) {
        const call = this.#calls.chunk(piece);
        call.inputs.fillOne(piece);
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
    this.#int8Cache?.dispose();
    this.#store.dispose();
    this.#graphs.dispose();
  }

  /** Computes what the prefill graph may compute, if there is one. Gives what of the row is left for the other graphs. */
  async #prefill(row: RunnerRow): Promise<RunnerRow> {
    const { slot, tokenIds, computedLength, logitsCount, prefillCount: length = 0 } = row;
    assertInvariant(length + logitsCount <= tokenIds.length, 'tokens of the prefill graph get no logits');
    const { prefill } = this.#graphs;
    if (prefill === undefined || length === 0) return row;
    const call = this.#calls.prefill(prefill, row, length);
    call.inputs.fillOne(row);
    await call.binding.run();
    return {
      slot,
      tokenIds: tokenIds.subarray(length),
      computedLength: computedLength + length,
      logitsCount,
    };
  }
}
