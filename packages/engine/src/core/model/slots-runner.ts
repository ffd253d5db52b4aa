// Runs a `slots` graph: GroupQueryAttention over a contiguous cache that is updated in place. All decodes are
// one call on the first slots of the pool; a chunk of a prompt is one call on its own slot.

import { join } from 'node:path';
import { assertInvariant, EngineError } from '../../errors.ts';
import { MANIFEST_FILE, type ModelManifest, SLOTS_OUTPUT } from '../../graph-contract.ts';
import { BatchInputs } from './batch-inputs.ts';
import { KvStore } from './kv-store.ts';
import type { ModelRunner, RunnerFacts, RunnerRow } from './model-runner.ts';
import type { OrtBackend, OrtBinding, OrtSession, OrtSessionOptions, OrtTensor } from './ort/backend.ts';

export interface SlotsRunnerOptions extends OrtSessionOptions {
  readonly slotCount: number;
  /** Most tokens of a sequence; at most what the manifest says. */
  readonly contextLength: number;
}

/** A call whose arrays are refilled and run again. */
interface PreparedCall {
  readonly inputs: BatchInputs;
  readonly binding: OrtBinding;
}

/**
 * Prepared calls of prompt chunks that are kept, the least recently used one is dropped first. Whole chunks are
 * one per slot; the last chunk of a prompt has any length and is cheap to prepare (about 0.1 ms).
 */
const CHUNK_CALL_LIMIT = 64;

/**
 * Throws: `model_invalid` when the graph cannot be loaded or has other inputs and outputs than expected,
 * `engine_failed` when there is no room for the cache.
 */
export async function createSlotsRunner(
  backend: OrtBackend,
  modelDir: string,
  manifest: ModelManifest,
  options: SlotsRunnerOptions,
): Promise<ModelRunner> {
  const session = await backend.createSession(join(modelDir, manifest.graphFile), options);
  let runner: SlotsRunner;
  try {
    runner = new SlotsRunner(backend, session, manifest, options);
  } catch (cause) {
    session.dispose();
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

class SlotsRunner implements ModelRunner {
  readonly facts: RunnerFacts;
  readonly #backend: OrtBackend;
  readonly #session: OrtSession;
  readonly #store: KvStore;
  /** Shape: `[slotCount, vocabSize]`. What `run` returns a part of; decodes write into it directly. */
  readonly #logits: Float32Array;
  /** Shape: `[1, vocabSize]`. Where chunks write, because their row in `#logits` differs from call to call. */
  readonly #chunkLogits: OrtTensor;
  /** By batch size. */
  readonly #decodeCalls = new Map<number, PreparedCall & { readonly logits: OrtTensor }>();
  /** By slot and length, least recently used first. */
  readonly #chunkCalls = new Map<string, PreparedCall>();

  constructor(
    backend: OrtBackend,
    session: OrtSession,
    manifest: ModelManifest,
    options: SlotsRunnerOptions,
  ) {
    const { slotCount, contextLength } = options;
    const { vocabSize } = manifest;
    this.#backend = backend;
    this.#session = session;
    this.#store = new KvStore(backend, { ...manifest, slotCount, capacity: contextLength });
    this.#logits = new Float32Array(slotCount * vocabSize);
    this.#chunkLogits = backend.createTensor('float32', [1, vocabSize], new Float32Array(vocabSize));
    this.facts = {
      kind: 'slots',
      vocabSize,
      contextLength,
      slotCount,
      backend: backend.name,
      device: 'cpu',
      onnxRuntimeVersion: backend.version,
    };
  }

  /** Runs one token, so that a graph that does not fit fails here and not in the first request. */
  async warmUp(): Promise<void> {
    await this.run([{ slot: 0, tokenIds: new Int32Array(1), computedLength: 0, needsLogits: true }]);
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
      const { slot, tokenIds, needsLogits } = rows[index]!;
      const call = this.#chunkCall(slot, tokenIds.length);
      call.inputs.fill(rows, index);
      await call.binding.run();
      if (!needsLogits) continue;
      this.#logits.set(this.#chunkLogits.data as Float32Array, logitsEnd);
      logitsEnd += vocabSize;
    }
    return this.#logits.subarray(0, logitsEnd);
  }

  copySlot(from: number, to: number, length: number): void {
    this.#store.copySlot(from, to, length);
  }

  async close(): Promise<void> {
    for (const call of this.#decodeCalls.values()) {
      disposeCall(call);
      call.logits.dispose();
    }
    for (const call of this.#chunkCalls.values()) disposeCall(call);
    this.#decodeCalls.clear();
    this.#chunkCalls.clear();
    this.#chunkLogits.dispose();
    this.#store.dispose();
    this.#session.dispose();
  }

  #decodeCall(batchSize: number): PreparedCall {
    const known = this.#decodeCalls.get(batchSize);
    if (known !== undefined) return known;
    const { vocabSize } = this.facts;
    const rows = this.#logits.subarray(0, batchSize * vocabSize);
    const logits = this.#backend.createTensor('float32', [batchSize, vocabSize], rows);
    const call = { ...this.#prepare(0, batchSize, 1, logits), logits };
    this.#decodeCalls.set(batchSize, call);
    return call;
  }

  #chunkCall(slot: number, length: number): PreparedCall {
    const key = `${slot}/${length}`;
    const call = this.#chunkCalls.get(key) ?? this.#prepare(slot, 1, length, this.#chunkLogits);
    this.#chunkCalls.delete(key);
    this.#chunkCalls.set(key, call);
    if (this.#chunkCalls.size > CHUNK_CALL_LIMIT) {
      const [oldestKey, oldest] = this.#chunkCalls.entries().next().value!;
      disposeCall(oldest);
      this.#chunkCalls.delete(oldestKey);
    }
    return call;
  }

  #prepare(firstSlot: number, batchSize: number, length: number, logits: OrtTensor): PreparedCall {
    const inputs = new BatchInputs(this.#backend, batchSize, length);
    const cache = this.#store.view(firstSlot, batchSize);
    const binding = this.#session.bind(
      new Map([...inputs.tensors, ...cache.inputs]),
      new Map([[SLOTS_OUTPUT.logits, logits], ...cache.outputs]),
    );
    return { inputs, binding };
  }
}

/** How many rows, from the first on, are one token with logits in slots 0, 1, 2, ...: what one call can do. */
function countLeadingDecodes(rows: readonly RunnerRow[]): number {
  let count = 0;
  for (const { slot, tokenIds, needsLogits } of rows) {
    assertInvariant(tokenIds.length > 0, 'a row has tokens');
    if (slot !== count || tokenIds.length !== 1 || !needsLogits) break;
    count++;
  }
  return count;
}

function disposeCall({ inputs, binding }: PreparedCall): void {
  binding.dispose();
  inputs.dispose();
}
