// Runs a `slots` graph: GroupQueryAttention over a contiguous cache that is updated in place. All decodes are
// one call on the first slots of the pool; a chunk of a prompt is one call on its own slot. Where the model has a
// prefill graph, tokens that the row marks for it go through that one, into the same cache.

import { join } from 'node:path';
import { assertInvariant, EngineError } from '../../errors.ts';
import { MANIFEST_FILE, type ModelManifest, SLOTS_OUTPUT } from '../../graph-contract.ts';
import { BatchInputs, type CallShape } from './batch-inputs.ts';
import { KeptCalls } from './kept-calls.ts';
import { KvStore } from './kv-store.ts';
import type { RunnerFacts, RunnerRow, SlotModelRunner } from './model-runner.ts';
import type { OrtBackend, OrtBinding, OrtSession, OrtSessionOptions, OrtTensor } from './ort/backend.ts';

export interface SlotsRunnerOptions extends OrtSessionOptions {
  readonly slotCount: number;
  /** Most tokens of a sequence; at most what the manifest says. */
  readonly contextLength: number;
  /** Use the model's prefill graph, if it has one. Default: true. */
  readonly prefillGraph?: boolean;
}

/** The graphs of one model. They share the cache. */
interface Sessions {
  readonly decoder: OrtSession;
  prefill?: OrtSession;
}

/** A call whose arrays are refilled and run again. */
interface PreparedCall {
  readonly inputs: BatchInputs;
  /** Null for the prefill graph. */
  readonly logits: OrtTensor | null;
  readonly binding: OrtBinding;
}

/**
 * Prepared calls of prompt chunks that are kept, the least recently used one is dropped first. Whole chunks are
 * one per slot; the last chunk of a prompt has any length and is cheap to prepare (about 0.1 ms).
 */
const CHUNK_CALL_LIMIT = 64;

/**
 * Memory for logits of prompt positions beyond one row per slot; memory that no such request used is not touched.
 * Unit: bytes.
 */
const PROMPT_LOGITS_BYTES = 32 * 2 ** 20;

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
  const sessions: Sessions = {
    decoder: await backend.createSession(join(modelDir, manifest.graphFile), options),
  };
  let runner: SlotsRunner;
  try {
    if (manifest.prefillGraphFile !== undefined && (options.prefillGraph ?? true))
      sessions.prefill = await backend.createSession(join(modelDir, manifest.prefillGraphFile), options);
    runner = new SlotsRunner(backend, sessions, manifest, options);
  } catch (cause) {
    disposeSessions(sessions);
    throw cause;
  }
  try {
    await runner.warmUp();
  } catch (cause) {
    await runner.close();
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `${manifest.graphFile} does not fit ${MANIFEST_FILE} in ${modelDir}: ${reason}`;
    throw new EngineError('model_invalid', message, { cause });
  }
  return runner;
}

class SlotsRunner implements SlotModelRunner {
  readonly cacheKind = 'slots';
  readonly facts: RunnerFacts;
  readonly #backend: OrtBackend;
  readonly #sessions: Sessions;
  readonly #store: KvStore;
  /** Shape: `[logitsLimit, vocabSize]`. What `run` returns a part of; decodes write into it directly. */
  readonly #logits: Float32Array;
  /** Shape: `[most of one row, vocabSize]`. Where chunks write: their place in `#logits` differs from call to call. */
  readonly #chunkLogits: Float32Array;
  /** By batch size. */
  readonly #decodeCalls = new Map<number, PreparedCall>();
  /** By slot, length and positions with logits. */
  readonly #chunkCalls = new KeptCalls<PreparedCall>(CHUNK_CALL_LIMIT, disposeCall);

  constructor(backend: OrtBackend, sessions: Sessions, manifest: ModelManifest, options: SlotsRunnerOptions) {
    const { slotCount, contextLength } = options;
    const { vocabSize } = manifest;
    this.#backend = backend;
    this.#sessions = sessions;
    this.#store = new KvStore(backend, { ...manifest, slotCount, capacity: contextLength });
    const promptLogitsLimit = Math.max(1, Math.floor(PROMPT_LOGITS_BYTES / (4 * vocabSize)));
    const logitsLimit = slotCount + Math.min(contextLength, promptLogitsLimit);
    this.#logits = new Float32Array(logitsLimit * vocabSize);
    this.#chunkLogits = new Float32Array(logitsLimit * vocabSize);
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

  /** Runs some tokens through each graph, so that one that does not fit fails here and not in the first request. */
  async warmUp(): Promise<void> {
    const { contextLength } = this.facts;
    const tokenIds = new Int32Array(Math.min(contextLength, 2));
    const prefillCount = tokenIds.length - 1;
    await this.run([{ slot: 0, tokenIds, computedLength: 0, logitsCount: 1, prefillCount }]);
  }

  async run(rows: readonly RunnerRow[]): Promise<Float32Array> {
    const { vocabSize } = this.facts;
    const decodeCount = countLeadingDecodes(rows);
    if (decodeCount > 0) {
      const call = this.#decodeCall(decodeCount);
      call.inputs.fill(rows, 0);
      await call.binding.run();
    }
    let logitsEnd = decodeCount * vocabSize;
    for (let index = decodeCount; index < rows.length; index++) {
      const row = await this.#prefill(rows[index]!);
      const { slot, tokenIds, logitsCount } = row;
      if (tokenIds.length === 0) continue;
      const call = this.#chunkCall(slot, tokenIds.length, logitsCount);
      call.inputs.fillOne(row);
      await call.binding.run();
      const length = logitsCount * vocabSize;
      assertInvariant(logitsEnd + length <= this.#logits.length, 'a step asks for at most logitsLimit rows');
      this.#logits.set(this.#chunkLogits.subarray(0, length), logitsEnd);
      logitsEnd += length;
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
    for (const call of this.#decodeCalls.values()) disposeCall(call);
    this.#decodeCalls.clear();
    this.#chunkCalls.dispose();
    this.#store.dispose();
    disposeSessions(this.#sessions);
  }

  /** Computes what the prefill graph may compute, if there is one. Gives what of the row is left for the other graph. */
  async #prefill(row: RunnerRow): Promise<RunnerRow> {
    const { slot, tokenIds, computedLength, logitsCount, prefillCount: length = 0 } = row;
    assertInvariant(length + logitsCount <= tokenIds.length, 'tokens of the prefill graph get no logits');
    if (this.#sessions.prefill === undefined || length === 0) return row;
    const call = this.#prefillCall(slot, length);
    call.inputs.fillOne(row);
    await call.binding.run();
    const rest = { tokenIds: tokenIds.subarray(length), computedLength: computedLength + length };
    return { slot, logitsCount, ...rest };
  }

  #decodeCall(batchSize: number): PreparedCall {
    const known = this.#decodeCalls.get(batchSize);
    if (known !== undefined) return known;
    const call = this.#prepare(0, { batchSize, length: 1, logitsPerRow: 1 }, this.#logits);
    this.#decodeCalls.set(batchSize, call);
    return call;
  }

  #chunkCall(slot: number, length: number, logitsCount: number): PreparedCall {
    // The graph computes logits for at least one position, also where nobody reads them.
    const shape = { batchSize: 1, length, logitsPerRow: Math.max(1, logitsCount) };
    const key = `${slot}/${length}/${shape.logitsPerRow}`;
    return this.#chunkCalls.take(key, () => this.#prepare(slot, shape, this.#chunkLogits));
  }

  #prefillCall(slot: number, length: number): PreparedCall {
    const { prefill } = this.#sessions;
    assertInvariant(prefill !== undefined, 'a prefill call has a prefill graph');
    return this.#chunkCalls.take(`${slot}/${length}/0`, () => {
      const inputs = new BatchInputs(this.#backend, { batchSize: 1, length, logitsPerRow: 0 });
      const cache = this.#store.view(slot, 1);
      const binding = prefill.bind(new Map([...inputs.tensors, ...cache.inputs]), cache.outputs);
      return { inputs, logits: null, binding };
    });
  }

  /** Logits go to the start of `target`. */
  #prepare(firstSlot: number, shape: CallShape, target: Float32Array): PreparedCall {
    const { vocabSize } = this.facts;
    const inputs = new BatchInputs(this.#backend, shape);
    const cache = this.#store.view(firstSlot, shape.batchSize);
    const rowCount = shape.batchSize * shape.logitsPerRow;
    const rows = target.subarray(0, rowCount * vocabSize);
    const logits = this.#backend.createTensor('float32', [rowCount, vocabSize], rows);
    const binding = this.#sessions.decoder.bind(
      new Map([...inputs.tensors, ...cache.inputs]),
      new Map([[SLOTS_OUTPUT.logits, logits], ...cache.outputs]),
    );
    return { inputs, logits, binding };
  }
}

/** How many rows, from the first on, are one token with logits in slots 0, 1, 2, ...: what one call can do. */
function countLeadingDecodes(rows: readonly RunnerRow[]): number {
  let count = 0;
  for (const { slot, tokenIds, logitsCount } of rows) {
    assertInvariant(tokenIds.length > 0, 'a row has tokens');
    if (slot !== count || tokenIds.length !== 1 || logitsCount !== 1) break;
    count++;
  }
  return count;
}

function disposeCall({ inputs, logits, binding }: PreparedCall): void {
  binding.dispose();
  logits?.dispose();
  inputs.dispose();
}

function disposeSessions({ decoder, prefill }: Sessions): void {
  prefill?.dispose();
  decoder.dispose();
}
