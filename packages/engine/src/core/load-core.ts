// Builds the token side of one model: ONNX Runtime binding, the runner that fits the model and its device, step runner, step
// loop. The links call it and nothing else of this folder.

import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { type OrtBackend, type SelectedBackend, selectBackend } from '@ortler/onnxruntime';
import { EngineError } from '../errors.ts';
import type { ModelManifest } from '../graph-contract.ts';
import type { CoreOptions } from '../protocol/core-options.ts';
import type { WarmUpProgress } from '../protocol/messages.ts';
import { EngineCore } from './engine-core.ts';
import { readManifest } from './manifest/read-manifest.ts';
import { describeCpuOperators } from './runners/device-slots/cpu-operators.ts';
import { createDeviceSlotsRunner } from './runners/device-slots/device-slots-runner.ts';
import { countLogits } from './runners/logits-memory.ts';
import { createPagedRunner } from './runners/paged/paged-runner.ts';
import { fromOrtError } from './runners/runner-errors.ts';
import { createSlotsRunner } from './runners/slots/slots-runner.ts';
import { samplingMemoryBytes } from './sampling/device/call-sizes.ts';
import { SamplingThreads } from './sampling/threads/sampling-threads.ts';
import { DEVICE_DRAFTS } from './speculative-decoding/device-draft-policy.ts';
import { CPU_DRAFTS } from './speculative-decoding/draft-policy.ts';
import type { Drafter } from './speculative-decoding/drafter.ts';
import { PromptLookupDrafter } from './speculative-decoding/prompt-lookup-drafter.ts';
import { createDeviceStepRunner } from './step/device-step-runner.ts';
import { HostStepRunner } from './step/host-step-runner.ts';
import type { StepRunner } from './step/step-runner.ts';

/** Slots for cached prefixes alone: enough for some conversations that come back while others run. */
const DEFAULT_CACHE_SLOTS = 4;
/** About as long as a step of eight decodes on two cores at the beginning of a prompt; ADR 12 has the measurement. */
const DEFAULT_MIXED_CHUNK_LENGTH = 32;
/** The same on a device: about as many tokens as it computes in the time in which it reads float16 weights. */
const DEVICE_MIXED_CHUNK_LENGTH = 128;

/** Each but the first one takes 23 MB (ADR 37), and four bring the sampler well below a twentieth of a step. */
const MOST_SAMPLING_THREADS = 4;

/** The parts of a step runner. */
interface RunnerParts {
  readonly backend: OrtBackend;
  readonly manifest: ModelManifest;
  readonly options: CoreOptions;
  readonly contextLength: number;
  readonly onWarmUp: ((progress: WarmUpProgress) => void) | undefined;
}

/** Runs the model's steps, with notes for the facts. */
interface FoundStepRunner {
  readonly stepRunner: StepRunner;
  readonly samplingNote?: string;
  readonly deviceNote?: string;
}

/**
 * A call that fails again and again on a device has lost it, or meets a broken driver: only a new process helps, and no
 * further request should have to find that out.
 */
const DEVICE_FAILURE_LIMIT = 1;

/**
 * `select`: where ONNX Runtime comes from; tests put devices in that fail.
 *
 * Throws: `model_invalid` for an unusable folder or options that do not fit it, `engine_failed`.
 */
export async function loadCore(
  options: CoreOptions,
  onWarmUp?: (progress: WarmUpProgress) => void,
  select: (choice: CoreOptions['backend']) => Promise<SelectedBackend> = selectBackend,
): Promise<EngineCore> {
  checkOptions(options);
  try {
    return await load(options, onWarmUp, select);
  } catch (cause) {
    throw fromOrtError(cause);
  }
}

async function load(
  options: CoreOptions,
  onWarmUp: ((progress: WarmUpProgress) => void) | undefined,
  select: (choice: CoreOptions['backend']) => Promise<SelectedBackend>,
): Promise<EngineCore> {
  const manifest = await readManifest(options.modelDir);
  const contextLength = options.contextLength ?? manifest.contextLength;
  if (contextLength > manifest.contextLength) {
    throw wrongOption(
      'contextLength',
      `must be at most ${manifest.contextLength}, which the model was built for; got ${contextLength}`,
    );
  }
  const { backend, note } = await select(options.backend);
  const create = manifest.variant === 'paged' ? createPagedStepRunner : createSlotsStepRunner;
  const { stepRunner, ...notes } = await create({ backend, manifest, options, contextLength, onWarmUp });
  const isOnDevice = stepRunner.model.facts.device !== 'cpu';
  return new EngineCore(stepRunner, {
    maxSequences: options.maxSequences,
    prefillChunkLength: options.prefillChunkLength,
    mixedChunkLength:
      options.mixedChunkLength ?? (isOnDevice ? DEVICE_MIXED_CHUNK_LENGTH : DEFAULT_MIXED_CHUNK_LENGTH),
    schedulingPolicy: options.schedulingPolicy ?? 'fcfs',
    prefixCaching: options.prefixCaching ?? true,
    drafter: createDrafter(options, stepRunner),
    maxQueuedSequences: options.maxQueuedSequences,
    ...(note === undefined ? {} : { backendNote: note }),
    ...(isOnDevice ? { fatalFailureLimit: DEVICE_FAILURE_LIMIT } : {}),
    ...notes,
  });
}

/** Speculative decoding pays on a device where all rows of a step are one call and logits stay there. Null: none. */
function createDrafter({ speculation }: CoreOptions, stepRunner: StepRunner): Drafter | null {
  if (speculation === 'off') return null;
  if (stepRunner.model.facts.device === 'cpu') return new PromptLookupDrafter(CPU_DRAFTS);
  return stepRunner.deviceStats === undefined ? null : new PromptLookupDrafter(DEVICE_DRAFTS);
}

/** On a device where one is named: such a graph runs there too, only not as well as a paged one. */
async function createSlotsStepRunner(parts: RunnerParts): Promise<FoundStepRunner> {
  const { backend, manifest, options, contextLength } = parts;
  const { device, modelDir, maxSequences, cacheBytes, graphCapture } = options;
  if (graphCapture === true) throw wrongOption('graphCapture', 'is for models with a paged cache');
  if (cacheBytes !== undefined)
    throw wrongOption('cacheBytes', 'is for models with a paged cache; with slots maxSequences decides');
  const slotCount = maxSequences + settleCacheSlots(options);
  const threads = { threadCount: settleThreadCount(options), spin: options.spin ?? true };
  const shared = { slotCount, contextLength, ...threads };
  let deviceNote: string | undefined;
  const isForDevice = device === 'webgpu' || device === 'cuda';
  if (isForDevice && options.isDeviceOptional === true && manifest.kvType === 'int8') {
    deviceNote = 'The model was built with an int8 KV cache, which only the CPU has, so it runs there.';
  } else if (isForDevice) {
    const graphFile = resolve(modelDir, manifest.graphFile);
    const session = await backend.createSession(graphFile, { ...threads, device });
    const work = describeCpuOperators(session.processorOperators);
    // A graph in float16 cannot stay on the CPU.
    const mayStay = options.isDeviceOptional === true && !needsDevice(manifest);
    if (work !== undefined) deviceNote = noteCpuOperators(device, work, { mayStay });
    if (work === undefined || !mayStay) {
      const onDevice = { ...shared, device, session };
      const runner = await createDeviceSlotsRunner(backend, modelDir, manifest, onDevice);
      return withNote(new HostStepRunner(runner), deviceNote);
    }
    session.dispose();
  }
  checkForCpu(modelDir, manifest);
  const runner = await createSlotsRunner(backend, modelDir, manifest, {
    ...shared,
    ...(options.wideGraphs === undefined ? {} : { wideGraphs: options.wideGraphs }),
  });
  // The model's threads wait while rows are sampled, so as many threads may sample.
  const threadCount = Math.min(threads.threadCount, MOST_SAMPLING_THREADS) - 1;
  return withNote(new HostStepRunner(runner, new SamplingThreads({ threadCount })), deviceNote);
}

function withNote(stepRunner: StepRunner, deviceNote: string | undefined): FoundStepRunner {
  return deviceNote === undefined ? { stepRunner } : { stepRunner, deviceNote };
}

/** Throws: `model_invalid` for a graph in float16. */
function checkForCpu(modelDir: string, manifest: ModelManifest): void {
  if (!needsDevice(manifest)) return;
  const message = `${manifest.graphFile}, which ${modelDir} names, has caches or logits in float16 and so needs a GPU (device "webgpu"). On the CPU, take a graph in float32: model.onnx, model_q8.onnx or model_q4.onnx.`;
  throw new EngineError('model_invalid', message, { parameter: 'device' });
}

function needsDevice({ kvType, logitsType }: ModelManifest): boolean {
  return kvType === 'float16' || logitsType === 'float16';
}

function noteCpuOperators(device: string, work: string, { mayStay }: { readonly mayStay: boolean }): string {
  const left = `The device "${device}" has no kernels for some operators of this graph: ${work}.`;
  return mayStay
    ? `${left} So the whole model runs on the CPU.`
    : `${left} They run on the CPU, with copies at each step; a build of the checkpoint for a GPU has none of them.`;
}

async function createPagedStepRunner(parts: RunnerParts): Promise<FoundStepRunner> {
  const { backend, manifest, options, contextLength, onWarmUp } = parts;
  const { modelDir, maxSequences, prefillChunkLength, cacheBytes } = options;
  const { vocabSize } = manifest;
  const device = options.device === 'auto' ? 'webgpu' : options.device;
  if (device === 'cpu') {
    const problem = `"cpu" cannot run ${modelDir}, which was built as "paged" for a GPU; use "webgpu" or "cuda"`;
    throw wrongOption('device', problem);
  }
  // Little stays on the CPU: threads that spin would only take a core from the rest.
  const sessionOptions = { device, threadCount: settleThreadCount(options), spin: options.spin ?? false };
  const { graphCapture: recordsCalls = false } = options;
  if (recordsCalls && device !== 'webgpu') throw wrongOption('graphCapture', 'is for the device "webgpu"');
  const runner = await createPagedRunner(backend, modelDir, manifest, {
    ...sessionOptions,
    maxSequences,
    contextLength,
    prefillChunkLength,
    cacheBytes,
    recordsCalls,
    spareContexts: settleCacheSlots(options),
    // Sampling begins when the cache is there already, so its memory must have been left.
    otherBytes: samplingMemoryBytes(vocabSize, countLogits(maxSequences, contextLength, vocabSize)),
    onWarmUp: (doneCount, totalCount) => onWarmUp?.({ doneCount, totalCount }),
  });
  try {
    return await createDeviceStepRunner(backend, runner, sessionOptions);
  } catch (cause) {
    await runner.close();
    throw cause;
  }
}

function settleCacheSlots({ prefixCaching = true, cacheSlots }: CoreOptions): number {
  return prefixCaching ? (cacheSlots ?? DEFAULT_CACHE_SLOTS) : 0;
}

function settleThreadCount({ threadCount }: CoreOptions): number {
  return threadCount === 0 ? availableParallelism() : threadCount;
}

function checkOptions(options: CoreOptions): void {
  const { threadCount, maxSequences, prefillChunkLength, maxQueuedSequences, contextLength } = options;
  const { mixedChunkLength, cacheSlots, cacheBytes } = options;
  checkCount('threadCount', threadCount, 0);
  checkCount('maxSequences', maxSequences, 1);
  checkCount('prefillChunkLength', prefillChunkLength, 1);
  checkCount('maxQueuedSequences', maxQueuedSequences, 0);
  if (mixedChunkLength !== undefined) checkCount('mixedChunkLength', mixedChunkLength, 1);
  if (cacheSlots !== undefined) checkCount('cacheSlots', cacheSlots, 0);
  if (cacheSlots !== undefined && cacheSlots > 0 && options.prefixCaching === false) {
    throw wrongOption('cacheSlots', `must be 0 without prefixCaching; got ${cacheSlots}`);
  }
  if (cacheBytes !== undefined) checkCount('cacheBytes', cacheBytes, 1);
  if (contextLength !== undefined) checkCount('contextLength', contextLength, 1);
}

function checkCount(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw wrongOption(name, `must be a whole number of at least ${least}; got ${value}`);
}

function wrongOption(name: string, problem: string): EngineError {
  return new EngineError('model_invalid', `The option ${name} ${problem}.`, { parameter: name });
}
