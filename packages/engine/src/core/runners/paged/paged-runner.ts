// The runner for a `paged` graph on a GPU: PagedAttention over a KV cache of blocks that stay there. A step is one call, chunks
// of prompts and decodes side by side, unless they are too many for one. Inputs are a few small arrays; the cache never moves,
// and logits stay on the device until they are read.

import { join } from 'node:path';
import type { OrtBackend, OrtSession, OrtSessionOptions } from '@ortler/onnxruntime';
import { assertInvariant } from '../../../errors.ts';
import type { ModelManifest } from '../../../graph-contract/index.ts';
import { countLogits } from '../logits-memory.ts';
import type { BlockModelRunner, RunnerFacts, RunnerRow } from '../model-runner.ts';
import { unfitModel } from '../runner-errors.ts';
import { readWeightBytes } from '../weight-bytes.ts';
import { blockLengthOn } from './block-length.ts';
import { countBlocks } from './block-memory.ts';
import { BlockStore } from './block-store.ts';
import { type DeviceLogits, type LogitsPart, LogitsStore, logitsMemoryBytes } from './device-logits.ts';
import { type PackedLimits, splitRows } from './packed-shape.ts';
import { PagedCalls } from './paged-calls.ts';
import { warmUpCalls } from './warm-up-calls.ts';

export interface PagedRunnerOptions extends OrtSessionOptions {
  readonly device: 'webgpu' | 'cuda';
  /** Maximum number of sequences in the cache at the same time. */
  readonly maxSequences: number;
  /** Maximum number of tokens in a sequence; at most what the manifest says. */
  readonly contextLength: number;
  /** Contexts that the cache has room for besides those of running sequences, if the device has it. */
  readonly spareContexts: number;
  /** Maximum number of prompt tokens of a step; the warm-up computes this many. */
  readonly prefillChunkLength: number;
  /** Memory of the cache. Unit: bytes. Default: what is left of the device, as far as sequences can fill it. */
  readonly cacheBytes?: number | undefined;
  /** Memory that others keep on the device for this model. Unit: bytes. Default: none. */
  readonly otherBytes?: number;
  /** Tokens of a block: a power of two. Default: `blockLengthOn`. */
  readonly blockLength?: number;
  /** One of the build's graphs, see `choose-graph.ts`. Default: the manifest's `graphFile`. */
  readonly graphFile?: string;
  /** Told how many of the calls that compile the model's kernels are done. */
  readonly onWarmUp?: ((doneCount: number, totalCount: number) => void) | undefined;
}

/** A runner whose logits may be sampled where they are. */
export interface PagedRunner extends BlockModelRunner {
  /** As `run`, but the logits stay on the device. */
  runOnDevice(rows: readonly RunnerRow[]): Promise<DeviceLogits>;
  /** Brings logits of the last `runOnDevice` to the process. Shape: `[rowCount, vocabSize]`, valid until the next call. */
  read(logits: DeviceLogits): Promise<Float32Array>;
}

/** The memory and calls of a runner. */
interface Parts {
  readonly session: OrtSession;
  readonly store: BlockStore;
  readonly logits: LogitsStore;
  readonly blockCount: number;
  readonly limits: PackedLimits;
  readonly calls: PagedCalls;
}

/**
 * Throws: `model_invalid` when the graph cannot be loaded, has other inputs and outputs than expected, or does not fit the
 * device; `engine_failed` when the device cannot be used.
 */
export async function createPagedRunner(
  backend: OrtBackend,
  modelDir: string,
  manifest: ModelManifest,
  options: PagedRunnerOptions,
): Promise<PagedRunner> {
  const { graphFile = manifest.graphFile } = options;
  const session = await backend.createSession(join(modelDir, graphFile), options);
  let runner: DevicePagedRunner;
  try {
    runner = await createParts(backend, session, modelDir, manifest, options);
  } catch (cause) {
    session.dispose();
    throw cause;
  }
  try {
    await runner.warmUp(options);
  } catch (cause) {
    await runner.close();
    throw unfitModel(graphFile, modelDir, cause, ', or the device');
  }
  return runner;
}

async function createParts(
  backend: OrtBackend,
  session: OrtSession,
  modelDir: string,
  manifest: ModelManifest,
  options: PagedRunnerOptions,
): Promise<DevicePagedRunner> {
  const { maxSequences, contextLength, device } = options;
  const { blockLength = blockLengthOn(device, manifest.headSize) } = options;
  const { cacheBytes, spareContexts, otherBytes = 0 } = options;
  const { vocabSize, kvType } = manifest;
  assertInvariant(kvType !== 'int8', 'a paged graph has no int8 cache');
  const deviceFacts = backend.describeDevice(device);
  const logitsLimit = countLogits(maxSequences, contextLength, vocabSize);
  const logitsShape = { vocabSize, rowLimit: logitsLimit, maxTensorBytes: deviceFacts.maxTensorBytes };
  const needs = {
    ...manifest,
    contextLength,
    maxSequences,
    spareContexts,
    blockLength,
    cacheBytes,
    elementBytes: kvType === 'float16' ? 2 : 4,
    weightBytes: await readWeightBytes(join(modelDir, manifest.graphFile)),
    keptBytes: logitsMemoryBytes(logitsShape) + otherBytes,
  };
  const blockCount = countBlocks(needs, deviceFacts);
  const shape = { ...manifest, blockCount, blockLength, type: kvType };
  const store = await BlockStore.create(backend, session, shape, options);
  let logits: LogitsStore;
  try {
    logits = new LogitsStore(backend, session, logitsShape);
  } catch (cause) {
    store.dispose();
    throw cause;
  }
  const facts: RunnerFacts = {
    kind: 'paged',
    vocabSize,
    contextLength,
    logitsLimit,
    device,
    slotCount: maxSequences,
    backend: backend.name,
    onnxRuntimeVersion: backend.version,
    cacheBytes: store.byteLength,
  };
  const limits = { ...needs, maxTensorBytes: deviceFacts.maxTensorBytes };
  const memory = { session, store, logits, blockCount };
  const calls = new PagedCalls({ ...memory, backend, blockLength });
  return new DevicePagedRunner({ ...memory, limits, calls }, facts, blockLength);
}

class DevicePagedRunner implements PagedRunner {
  readonly cacheKind = 'blocks';
  readonly facts: RunnerFacts;
  readonly blockCount: number;
  readonly blockLength: number;
  readonly #parts: Parts;

  constructor(parts: Parts, facts: RunnerFacts, blockLength: number) {
    this.#parts = parts;
    this.facts = facts;
    this.blockCount = parts.blockCount;
    this.blockLength = blockLength;
  }

  async run(rows: readonly RunnerRow[]): Promise<Float32Array> {
    return this.read(await this.runOnDevice(rows));
  }

  async runOnDevice(rows: readonly RunnerRow[]): Promise<DeviceLogits> {
    const { store, limits } = this.#parts;
    await store.copyWaiting();
    const parts: LogitsPart[] = [];
    for (const [index, part] of splitRows(rows, limits).entries()) parts.push(await this.#call(index, part));
    return parts;
  }

  read(logits: DeviceLogits): Promise<Float32Array> {
    return this.#parts.logits.read(logits);
  }

  copyBlock(from: number, to: number): void {
    this.#parts.store.copyBlock(from, to);
  }

  /**
   * Computes calls of each kind once, so that kernels are compiled before the first request and a graph that does not fit
   * fails here.
   */
  async warmUp({ prefillChunkLength, onWarmUp }: PagedRunnerOptions): Promise<void> {
    const { store } = this.#parts;
    const { blockCount, blockLength } = this;
    const calls = warmUpCalls({ ...this.facts, blockCount, blockLength, chunkLength: prefillChunkLength });
    onWarmUp?.(0, calls.length + 1);
    for (const [index, rows] of calls.entries()) {
      await this.run(rows);
      onWarmUp?.(index + 1, calls.length + 1);
    }
    await store.warmUp();
    onWarmUp?.(calls.length + 1, calls.length + 1);
  }

  async close(): Promise<void> {
    const { session, store, logits, calls } = this.#parts;
    calls.dispose();
    logits.dispose();
    store.dispose();
    session.dispose();
  }

  async #call(index: number, rows: readonly RunnerRow[]): Promise<LogitsPart> {
    const rowCount = rows.reduce((sum, { logitsCount }) => sum + logitsCount, 0);
    assertInvariant(rowCount <= this.facts.logitsLimit, 'a step asks for at most logitsLimit rows');
    const call = this.#parts.calls.take(index, rows);
    call.fill(rows);
    await call.binding.run();
    return { value: call.logits, rowCount };
  }
}
