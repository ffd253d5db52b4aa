// Runs the graphs of a model with slots: GroupQueryAttention over a contiguous cache that is updated in place. All decodes are
// one call on the first slots of the pool; a chunk of a prompt is one call on its own slot. Where the model has a
// prefill graph, tokens that the row marks for it go through that one, into the same cache. A cache of 8-bit codes is
// calibrated when the model is loaded.

import { assertInvariant } from '../../errors.ts';
import { type ModelManifest, SLOTS_OUTPUT } from '../../graph-contract.ts';
import { BatchInputs } from './batch-inputs.ts';
import { CacheCodes } from './cache-codes.ts';
import { calibrateCache } from './calibrate-cache.ts';
import type { CallConvention, CallInputs, CallShape } from './call-convention.ts';
import { createLogits } from './call-logits.ts';
import { createConvention } from './create-convention.ts';
import { KeptCalls } from './kept-calls.ts';
import { KvStore } from './kv-store.ts';
import { countLogits } from './logits-limit.ts';
import type { RunnerFacts, RunnerRow, SlotModelRunner } from './model-runner.ts';
import type { OrtBackend, OrtBinding, OrtSession, OrtTensor } from './ort/backend.ts';
import { inPieces } from './row-pieces.ts';
import {
  type CallWidth,
  graphFor,
  openSlotsGraphs,
  type SlotsGraphs,
  type SlotsGraphsOptions,
} from './slots-graphs.ts';
import { unfitModel } from './unfit-model.ts';

export interface SlotsRunnerOptions extends SlotsGraphsOptions {
  readonly slotCount: number;
  /** Most tokens of a sequence; at most what the manifest says. */
  readonly contextLength: number;
}

/** A call whose arrays are refilled and run again. */
interface PreparedCall {
  readonly inputs: CallInputs;
  /** Null for the prefill graph. */
  readonly logits: OrtTensor | null;
  /** Rows of logits before the first of those that were asked for. */
  readonly firstRow: number;
  readonly binding: OrtBinding;
  /** What else goes with the call. */
  readonly dispose?: () => void;
}

/**
 * Prepared calls of prompt chunks that are kept, the least recently used one is dropped first. Whole chunks are
 * one per slot; the last chunk of a prompt has any length and is cheap to prepare (about 0.1 ms).
 */
const CHUNK_CALL_LIMIT = 64;

/** The same of decodes, at least. */
const DECODE_CALL_LIMIT = 64;

/**
 * Throws: `model_invalid` when the graph cannot be loaded or has other inputs and outputs than expected,
 * `engine_failed` when there is no room for the cache.
 */
export async function createSlotsRunner(
  backend: OrtBackend,
  modelDir: string,
  manifest: ModelManifest,
  options: SlotsRunnerOptions,
): Promise<SlotModelRunner> {
  const graphs = await openSlotsGraphs(backend, modelDir, manifest, options);
  let runner: SlotsRunner;
  try {
    runner = new SlotsRunner(backend, graphs, manifest, options);
  } catch (cause) {
    disposeGraphs(graphs);
    throw cause;
  }
  try {
    await runner.calibrate(manifest);
    if (options.wideGraphs === false) runner.dropPrefillGraph();
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
  #graphs: SlotsGraphs;
  readonly #convention: CallConvention;
  readonly #store: KvStore;
  /** Undefined for a cache of numbers. */
  readonly #codes: CacheCodes | undefined;
  /** Shape: `[logitsLimit, vocabSize]`. What `run` returns a part of; decodes write into it directly. */
  readonly #logits: Float32Array;
  /** Shape: `[most of one row, vocabSize]`. Where chunks write: their place in `#logits` differs from call to call. */
  readonly #chunkLogits: Float32Array;
  /** By batch size and span. */
  readonly #decodeCalls: KeptCalls<PreparedCall>;
  /** By slot, length, positions with logits and span. */
  readonly #chunkCalls = new KeptCalls<PreparedCall>(CHUNK_CALL_LIMIT, disposeCall);

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
    this.#codes = kvType === 'int8' ? new CacheCodes(backend, shape) : undefined;
    const logitsLimit = countLogits(slotCount, contextLength, vocabSize);
    this.#logits = new Float32Array(logitsLimit * vocabSize);
    this.#chunkLogits = new Float32Array(logitsLimit * vocabSize);
    this.#convention = createConvention(backend, manifest, {
      inputNames: graphs.main.inputNames,
      ...{ batchLimit: slotCount, contextLength, logitsLimit, maskWidth: 'rounded' },
    });
    // Without spans, those of all batch sizes are kept.
    this.#decodeCalls = new KeptCalls(Math.max(slotCount, DECODE_CALL_LIMIT), disposeCall);
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

  /** Finds the scales of a cache of codes. Throws: `model_invalid` for a graph that does not fit. */
  async calibrate(model: ModelManifest): Promise<void> {
    const codes = this.#codes;
    if (codes === undefined) return;
    const { prefill } = this.#graphs;
    assertInvariant(prefill !== undefined, 'a manifest with an int8 cache names a graph for prompts');
    const { contextLength } = this.facts;
    await calibrateCache({
      backend: this.#backend,
      prefill,
      store: this.#store,
      codes,
      model,
      contextLength,
    });
  }

  /** From now on all tokens go through the other graphs. */
  dropPrefillGraph(): void {
    const { prefill, ...others } = this.#graphs;
    prefill?.dispose();
    this.#graphs = others;
  }

  /** Runs some tokens through each graph, so that one that does not fit fails here and not in the first request. */
  async warmUp(): Promise<void> {
    const { contextLength } = this.facts;
    const tokenIds = new Int32Array(Math.min(contextLength, 2));
    const row = { slot: 0, tokenIds, computedLength: 0, logitsCount: 1 };
    await this.run([row]);
    await this.run([{ ...row, promptCount: tokenIds.length, prefillCount: tokenIds.length - 1 }]);
  }

  async run(rows: readonly RunnerRow[]): Promise<Float32Array> {
    const { vocabSize } = this.facts;
    const decodes = leadingDecodes(rows);
    const decodeCount = decodes.rowCount;
    if (decodeCount > 0) {
      const call = this.#decodeCall(decodes);
      call.inputs.fill(rows, 0);
      await call.binding.run();
    }
    let logitsEnd = decodeCount * vocabSize;
    for (let index = decodeCount; index < rows.length; index++) {
      const row = await this.#prefill(rows[index]!);
      if (row.tokenIds.length === 0) continue;
      for (const piece of inPieces(row, this.#convention.chunkLimit)) {
        const call = this.#chunkCall(piece);
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
    this.#decodeCalls.dispose();
    this.#chunkCalls.dispose();
    this.#codes?.dispose();
    this.#store.dispose();
    disposeGraphs(this.#graphs);
  }

  /** Computes what the prefill graph may compute, if there is one. Gives what of the row is left for the other graph. */
  async #prefill(row: RunnerRow): Promise<RunnerRow> {
    const { slot, tokenIds, computedLength, logitsCount, promptCount = 0, prefillCount: length = 0 } = row;
    assertInvariant(length + logitsCount <= tokenIds.length, 'tokens of the prefill graph get no logits');
    if (this.#graphs.prefill === undefined || length === 0) return row;
    const call = this.#prefillCall(slot, length, this.#codes?.span(computedLength + length) ?? 0);
    call.inputs.fillOne(row);
    await call.binding.run();
    const rest = { tokenIds: tokenIds.subarray(length), computedLength: computedLength + length };
    return { slot, logitsCount, promptCount: promptCount - length, ...rest };
  }

  #decodeCall(decodes: Decodes): PreparedCall {
    const graph = graphFor(this.#graphs, decodes);
    const span = this.#convention.span(decodes.longest);
    const shape = { batchSize: decodes.rowCount, length: 1, logitsPerRow: 1, span };
    const key = `${nameOf(this.#graphs, graph)}/${shape.batchSize}/${span}`;
    return this.#decodeCalls.take(key, () => this.#prepare(graph, 0, shape, this.#logits));
  }

  #chunkCall(row: RunnerRow): PreparedCall {
    const { slot, computedLength, logitsCount, promptCount = 0 } = row;
    const { length } = row.tokenIds;
    const graph = graphFor(this.#graphs, { rowCount: length, hasPrompt: promptCount > 0 });
    // The graph computes logits for at least one position, also where nobody reads them.
    const logitsPerRow = Math.max(1, logitsCount);
    const span = this.#convention.span(computedLength + length);
    const shape = { batchSize: 1, length, logitsPerRow, span };
    const key = `${nameOf(this.#graphs, graph)}/${slot}/${length}/${logitsPerRow}/${span}`;
    return this.#chunkCalls.take(key, () => this.#prepare(graph, slot, shape, this.#chunkLogits));
  }

  /** `span`: how much of a cache of codes is widened. */
  #prefillCall(slot: number, length: number, span: number): PreparedCall {
    const { prefill } = this.#graphs;
    assertInvariant(prefill !== undefined, 'a prefill call has a prefill graph');
    return this.#chunkCalls.take(`prefill/${slot}/${length}/${span}`, () => {
      const inputs = new BatchInputs(this.#backend, { batchSize: 1, length, logitsPerRow: 0 });
      const cache = this.#store.view(slot, 1);
      const widened = this.#codes?.widen(prefill, span);
      const binding = prefill.bind(
        new Map([...inputs.tensors, ...cache.inputs, ...(widened?.inputs ?? [])]),
        new Map([...cache.outputs, ...(widened?.outputs ?? [])]),
      );
      const call = { inputs, logits: null, firstRow: 0, binding };
      return widened === undefined ? call : { ...call, dispose: () => widened.dispose() };
    });
  }

  /** Logits go to the start of `target`. */
  #prepare(graph: OrtSession, firstSlot: number, shape: CallShape, target: Float32Array): PreparedCall {
    const inputs = this.#convention.createInputs(shape);
    const cache = this.#store.view(firstSlot, shape.batchSize);
    const { dims, firstRow } = this.#convention.logitsPlace(shape);
    const logits = createLogits(this.#backend, [...dims, this.facts.vocabSize], target);
    const binding = graph.bind(
      new Map([...inputs.tensors, ...cache.inputs, ...(this.#codes?.inputs ?? [])]),
      new Map([[SLOTS_OUTPUT.logits, logits], ...cache.outputs]),
    );
    return { inputs, logits, firstRow, binding };
  }
}

/** Leading rows that are one token with logits in slots 0, 1, 2, ...: what one call can do. */
interface Decodes extends CallWidth {
  /** Tokens of the longest of their sequences after this step. */
  readonly longest: number;
}

function leadingDecodes(rows: readonly RunnerRow[]): Decodes {
  let rowCount = 0;
  let longest = 0;
  let hasPrompt = false;
  for (const { slot, tokenIds, computedLength, logitsCount, promptCount = 0 } of rows) {
    assertInvariant(tokenIds.length > 0, 'a row has tokens');
    if (slot !== rowCount || tokenIds.length !== 1 || logitsCount !== 1) break;
    rowCount++;
    longest = Math.max(longest, computedLength + 1);
    hasPrompt ||= promptCount > 0;
  }
  return { rowCount, longest, hasPrompt };
}

function nameOf({ wide }: SlotsGraphs, graph: OrtSession): string {
  return graph === wide ? 'wide' : 'main';
}

function disposeCall({ inputs, logits, binding, dispose }: PreparedCall): void {
  binding.dispose();
  dispose?.();
  logits?.dispose();
  inputs.dispose();
}

function disposeGraphs({ main, wide, prefill }: SlotsGraphs): void {
  prefill?.dispose();
  wide?.dispose();
  main.dispose();
}
