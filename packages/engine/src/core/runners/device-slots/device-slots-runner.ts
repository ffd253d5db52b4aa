// The runner for a `slots` graph on a GPU: for graphs with GroupQueryAttention that have no paged form. Every row is a call
// of its own, because memory on a device has no views: each slot is a set of tensors. Slower than a `paged` graph, whose
// sequences share calls and blocks.

import { resolve } from 'node:path';
import {
  byteLengthOf,
  type OrtBackend,
  type OrtBinding,
  type OrtDevice,
  type OrtSession,
  type OrtSessionOptions,
  type OrtTensor,
  type OrtValue,
} from '@ortler/onnxruntime';
import { assertInvariant, EngineError } from '../../../errors.ts';
import { type ModelManifest, pastName, presentName, SLOTS_OUTPUT } from '../../../graph-contract/index.ts';
import type { CallConvention, CallInputs, CallShape } from '../conventions/call-convention.ts';
import { inPieces } from '../conventions/call-convention.ts';
import { createConvention } from '../conventions/create-convention.ts';
import { countLogits, createLogits, type LogitsMemory } from '../logits-memory.ts';
import type { RunnerFacts, RunnerRow, SlotModelRunner } from '../model-runner.ts';
import { PreparedCalls } from '../prepared-calls.ts';
import { fromOrtError, unfitModel } from '../runner-errors.ts';
import { allocateSlot, type SlotTensors } from './device-slots.ts';
import { float16ToFloat32 } from './float16-to-float32.ts';

export interface DeviceSlotsRunnerOptions extends OrtSessionOptions {
  readonly device: Exclude<OrtDevice, 'cpu'>;
  /** The graph, where the caller has loaded it for that device; it is the runner's then. */
  readonly session?: OrtSession;
  readonly slotCount: number;
  /** Maximum number of tokens in a sequence; at most what the manifest says. */
  readonly contextLength: number;
}

/** A call whose arrays are refilled and run again. */
interface PreparedCall {
  readonly inputs: CallInputs;
  readonly logits: OrtTensor;
  /** Rows before the first of those that were asked for. */
  readonly firstRow: number;
  readonly binding: OrtBinding;
}

/** Calls that are kept: decodes are one per slot, whole chunks too, last chunks of prompts have any length. */
const CALL_LIMIT = 128;

/**
 * Chunks of prompts up to this length are computed by a kernel that is right everywhere. The one for longer chunks is wrong
 * where subgroups have 8 lanes (ONNX Runtime 1.30, seen on software Vulkan), so it is tried when the model is loaded.
 */
const SAFE_CHUNK_LENGTH = 31;

/** Longer than `SAFE_CHUNK_LENGTH`, of more than one tile of every kernel. */
const TRIAL_LENGTH = 48;

/** Positions of the trial whose logits are compared: at some of them a wrong kernel may be nearly right. */
const TRIAL_LOGITS = 16;

/** The other way to divide a trial into calls that are right everywhere: what differs then is rounding. Unit: tokens. */
const OTHER_CHUNK_LENGTH = 16;

/**
 * A long chunk is right where it differs from short ones by a few times what those differ from each other, or by this share of the largest
 * logit. A wrong one is off by tenths, in models with short windows by a hundredth.
 */
const TRIAL_BOUND = 0.002;
const ROUNDING_FACTOR = 3;

/**
 * Throws: `model_invalid` when the graph cannot be loaded or has other inputs and outputs than expected,
 * `engine_failed` when the device cannot be used or has no room for the cache.
 */
export async function createDeviceSlotsRunner(
  backend: OrtBackend,
  modelDir: string,
  manifest: ModelManifest,
  options: DeviceSlotsRunnerOptions,
): Promise<SlotModelRunner> {
  const session =
    options.session ??
    (await backend.createSession(resolve(modelDir, manifest.graphFile), {
      ...options,
      int8KvCache: manifest.kvType === 'int8',
    }));
  const slots: SlotTensors[] = [];
  try {
    for (let slot = 0; slot < options.slotCount; slot++) slots.push(allocateSlot(session, manifest, options));
    const runner = new DeviceSlotsRunner(backend, session, slots, manifest, options);
    await runner.warmUp();
    return runner;
  } catch (cause) {
    for (const { value } of slots.flat()) value.dispose();
    session.dispose();
    const failure = fromOrtError(cause);
    if (failure instanceof EngineError && failure.code === 'engine_failed') throw failure;
    throw unfitModel(manifest.graphFile, modelDir, cause);
  }
}

class DeviceSlotsRunner implements SlotModelRunner {
  readonly cacheKind = 'slots';
  readonly facts: RunnerFacts;
  readonly #backend: OrtBackend;
  readonly #session: OrtSession;
  readonly #convention: CallConvention;
  /** By slot; two are exchanged by exchanging these. */
  readonly #slots: SlotTensors[];
  /** Shape: `[logitsLimit, vocabSize]`. What `run` returns a part of. */
  readonly #logits: Float32Array;
  /** Shape: `[logitsLimit, vocabSize]`. Where calls write: the place in `#logits` differs from step to step. */
  readonly #callLogits: LogitsMemory;
  readonly #calls = new PreparedCalls<PreparedCall>(CALL_LIMIT, disposeCall);
  /** Numbers for the tensors of a slot, which keep their calls when slots are exchanged. */
  readonly #numbers = new Map<SlotTensors, number>();
  #chunkLimit = SAFE_CHUNK_LENGTH;
  /** Ends when all copies that were asked for are made. */
  #copies: Promise<void> = Promise.resolve();

  constructor(
    backend: OrtBackend,
    session: OrtSession,
    slots: readonly SlotTensors[],
    manifest: ModelManifest,
    { slotCount, contextLength, device }: DeviceSlotsRunnerOptions,
  ) {
    const { vocabSize, logitsType = 'float32' } = manifest;
    this.#backend = backend;
    this.#session = session;
    this.#slots = [...slots];
    for (const [number, tensors] of slots.entries()) this.#numbers.set(tensors, number);
    const logitsLimit = countLogits(slotCount, contextLength, vocabSize);
    this.#logits = new Float32Array(logitsLimit * vocabSize);
    const CallMemory = logitsType === 'float32' ? Float32Array : Uint16Array;
    this.#callLogits = new CallMemory(logitsLimit * vocabSize);
    this.#convention = createConvention(backend, manifest, {
      inputNames: session.inputNames,
      batchLimit: 1,
      maskWidth: 'exact',
      contextLength,
      logitsLimit,
    });
    this.facts = {
      kind: 'slots',
      vocabSize,
      contextLength,
      slotCount,
      logitsLimit,
      device,
      backend: backend.name,
      onnxRuntimeVersion: backend.version,
      cacheBytes: slots.flat().reduce((sum, { value }) => sum + byteLengthOf(value), 0),
    };
  }

  /**
   * Computes some tokens in one call and in several, so that a graph that does not fit fails here, shaders are compiled,
   * and long chunks are used only where they are right.
   */
  async warmUp(): Promise<void> {
    const { contextLength, vocabSize } = this.facts;
    const tokenIds = Int32Array.from(
      { length: Math.min(contextLength, TRIAL_LENGTH) },
      (_, i) => i % vocabSize,
    );
    const logitsCount = Math.min(TRIAL_LOGITS, tokenIds.length, this.facts.logitsLimit);
    const row = { slot: 0, tokenIds, computedLength: 0, logitsCount };
    const runInChunks = async (length: number) => {
      this.#chunkLimit = length;
      return (await this.run([row])).slice();
    };
    const expected = await runInChunks(SAFE_CHUNK_LENGTH);
    if (tokenIds.length <= SAFE_CHUNK_LENGTH) return;
    const rounding = distance(await runInChunks(OTHER_CHUNK_LENGTH), expected);
    const bound = Math.max(ROUNDING_FACTOR * rounding, TRIAL_BOUND * distance(expected, undefined));
    const isRight = distance(await runInChunks(contextLength), expected) <= bound;
    if (!isRight) this.#chunkLimit = SAFE_CHUNK_LENGTH;
  }

  async run(rows: readonly RunnerRow[]): Promise<Float32Array> {
    await this.#copies;
    const { vocabSize } = this.facts;
    let logitsEnd = 0;
    const limit = Math.min(this.#chunkLimit, this.#convention.chunkLimit);
    for (const piece of rows.flatMap(row => inPieces(row, limit))) {
      const call = this.#call(piece);
      call.inputs.fill([piece]);
      await call.binding.run();
      const length = piece.logitsCount * vocabSize;
      assertInvariant(logitsEnd + length <= this.#logits.length, 'a step asks for at most logitsLimit rows');
      const start = call.firstRow * vocabSize;
      const found = this.#callLogits.subarray(start, start + length);
      if (found instanceof Float32Array) this.#logits.set(found, logitsEnd);
      else float16ToFloat32(found, this.#logits.subarray(logitsEnd, logitsEnd + length));
      logitsEnd += length;
    }
    return this.#logits.subarray(0, logitsEnd);
  }

  /** Copies the whole slot: a device copies gigabytes in the time of one call. */
  copySlot(from: number, to: number): void {
    const [source, target] = [this.#slots[from]!, this.#slots[to]!];
    this.#copies = this.#copies.then(async () => {
      for (const [i, { value }] of source.entries()) await this.#backend.copy(value, target[i]!.value);
    });
    // The next run reports it.
    this.#copies.catch(() => undefined);
  }

  swapSlots(a: number, b: number): void {
    [this.#slots[a], this.#slots[b]] = [this.#slots[b]!, this.#slots[a]!];
  }

  async close(): Promise<void> {
    await this.#copies.catch(() => undefined);
    this.#calls.dispose();
    for (const { value } of this.#slots.flat()) value.dispose();
    this.#session.dispose();
  }

  #call({ slot, tokenIds, computedLength, logitsCount }: RunnerRow): PreparedCall {
    const tensors = this.#slots[slot]!;
    const length = tokenIds.length;
    // The graph computes logits for at least one position, also where they are not read.
    const logitsPerRow = Math.max(1, logitsCount);
    const span = this.#convention.span(computedLength + length);
    return this.#calls.take(`${this.#numbers.get(tensors)}/${length}/${logitsPerRow}/${span}`, () => {
      const shape: CallShape = { batchSize: 1, length, logitsPerRow, span };
      const inputs = this.#convention.createInputs(shape);
      const { firstRow, dims } = this.#convention.logitsPlace(shape);
      const logits = createLogits(this.#backend, [...dims, this.facts.vocabSize], this.#callLogits);
      const past = tensors.map(({ layer, part, value }) => [pastName(layer, part), value] as const);
      const present = tensors.map(({ layer, part, value }) => [presentName(layer, part), value] as const);
      const binding = this.#session.bind(
        new Map<string, OrtValue>([...inputs.tensors, ...past]),
        new Map<string, OrtValue>([[SLOTS_OUTPUT.logits, logits], ...present]),
      );
      return { inputs, logits, firstRow, binding };
    });
  }
}

/** Largest difference from `expected`, or from zero; infinite where a value is NaN. */
function distance(actual: Float32Array, expected: Float32Array | undefined): number {
  let largest = 0;
  for (let i = 0; i < actual.length; i++) {
    const difference = Math.abs(actual[i]! - (expected?.[i] ?? 0));
    // Written so that a NaN difference counts.
    if (!(difference <= largest)) largest = Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference;
  }
  return largest;
}

function disposeCall({ inputs, logits, binding }: PreparedCall): void {
  binding.dispose();
  logits.dispose();
  inputs.dispose();
}
