// Builds the token side of one model: ONNX Runtime binding, the runner that fits the model and its device, step loop. The
// links call it and nothing else of this room.

import { resolve } from 'node:path';
import { type OrtBackend, type SelectedBackend, selectBackend } from '@ortler/onnxruntime';
import { EngineError } from '../errors.ts';
import type { ModelManifest } from '../graph-contract.ts';
import { wrongOption } from '../protocol/check-options.ts';
import type { WarmUpProgress } from '../protocol/messages.ts';
import type { CoreOptions } from '../protocol/options.ts';
import { type ModelDevice, type SettledOptions, settleOptions } from '../protocol/settle-options.ts';
import { createDeviceSampling } from './device-sampling.ts';
import { EngineCore } from './engine-core.ts';
import { createDeviceSlotsRunner } from './model/device-slots-runner.ts';
import { countLogits } from './model/logits-limit.ts';
import type { ModelRunner } from './model/model-runner.ts';
import { fromOrtError } from './model/ort-failure.ts';
import { createPagedRunner } from './model/paged-runner.ts';
import { describeProcessorWork } from './model/processor-work.ts';
import { readManifest } from './model/read-manifest.ts';
import { createSlotsRunner } from './model/slots-runner.ts';
import { samplingMemoryBytes } from './sampling/device/call-sizes.ts';
import { Sampler } from './sampling/sampler.ts';
import { createHostStepSampler, type StepSampler } from './sampling/step-sampler.ts';
import { SamplingThreads } from './sampling/threads/sampling-threads.ts';
import { DEVICE_DRAFTS } from './speculation/device-draft-policy.ts';
import { PROCESSOR_DRAFTS } from './speculation/draft-policy.ts';
import type { Drafter } from './speculation/drafter.ts';
import { PromptLookupDrafter } from './speculation/prompt-lookup-drafter.ts';

/** Each but the first one takes 23 MB (ADR 37), and four bring the sampler well below a twentieth of a step. */
const MOST_SAMPLING_THREADS = 4;

type SelectBackend = (choice: SettledOptions['tuning']['backend']) => Promise<SelectedBackend>;

/** What a runner is made from. */
interface RunnerParts {
  readonly backend: OrtBackend;
  readonly manifest: ModelManifest;
  readonly options: SettledOptions;
  /** The options where the model runs on the CPU after all. */
  readonly settleForCpu: () => SettledOptions;
  readonly onWarmUp: ((progress: WarmUpProgress) => void) | undefined;
}

/** What computes the model's steps. */
interface Computation {
  readonly runner: ModelRunner;
  /** Settled for where the runner runs. */
  readonly options: SettledOptions;
  readonly stepSampler?: StepSampler | undefined;
  readonly samplingNote?: string | undefined;
  readonly deviceNote?: string | undefined;
}

/**
 * A call that fails again and again on a device has lost it, or meets a broken driver: only a new process helps, and no
 * further request should have to find that out.
 */
const DEVICE_FAILURE_LIMIT = 1;

/**
 * `options` are checked. `select`: where ONNX Runtime comes from; tests put devices in that fail.
 *
 * Throws: `model_invalid` for an unusable folder or options that do not fit it, `engine_failed`.
 */
export async function loadCore(
  options: CoreOptions,
  onWarmUp?: (progress: WarmUpProgress) => void,
  select: SelectBackend = selectBackend,
): Promise<EngineCore> {
  try {
    return await load(options, onWarmUp, select);
  } catch (cause) {
    throw fromOrtError(cause);
  }
}

async function load(
  options: CoreOptions,
  onWarmUp: ((progress: WarmUpProgress) => void) | undefined,
  select: SelectBackend,
): Promise<EngineCore> {
  const manifest = await readManifest(options.modelDir);
  const settleFor = (device: ModelDevice) =>
    settleOptions(options, { device, contextLength: manifest.contextLength });
  const settled = settleFor(chooseModelDevice(options, manifest));
  const { backend, note } = await select(settled.tuning.backend);
  const create = manifest.variant === 'paged' ? computeInBlocks : computeInSlots;
  const parts = { backend, manifest, options: settled, settleForCpu: () => settleFor('cpu'), onWarmUp };
  const { runner, options: own, ...others } = await create(parts);
  const { prefillChunkLength, mixedChunkLength, maxQueuedSequences, speculativeDecoding } = own.tuning;
  return new EngineCore(runner, {
    maxSequences: own.maxSequences,
    prefillChunkLength,
    mixedChunkLength,
    schedulingPolicy: own.schedulingPolicy,
    prefixCaching: own.prefixCaching,
    drafter: speculativeDecoding === 'off' ? null : createDrafter(own.device, others.stepSampler),
    maxQueuedSequences,
    backendNote: note,
    fatalFailureLimit: own.device === 'cpu' ? undefined : DEVICE_FAILURE_LIMIT,
    ...others,
  });
}

/** Without a choice of the caller, what the folder was built for. */
function chooseModelDevice({ device = 'auto' }: CoreOptions, { variant }: ModelManifest): ModelDevice {
  if (device !== 'auto') return device;
  return variant === 'paged' ? 'webgpu' : 'cpu';
}

/** On a device, drafts pay where all rows of a step are one call and their logits stay where they are. Null: none are made. */
function createDrafter(device: ModelDevice, stepSampler: StepSampler | undefined): Drafter | null {
  if (device === 'cpu') return new PromptLookupDrafter(PROCESSOR_DRAFTS);
  return stepSampler === undefined ? null : new PromptLookupDrafter(DEVICE_DRAFTS);
}

/** On a device where one is named: such a graph runs there too, only not as well as a paged one. */
async function computeInSlots(parts: RunnerParts): Promise<Computation> {
  const { device, tuning } = parts.options;
  const { graphCapture, cacheBytes } = tuning;
  if (graphCapture) throw wrongOption('tuning.graphCapture', 'is for models with a paged cache');
  if (cacheBytes !== undefined)
    throw wrongOption(
      'tuning.cacheBytes',
      'is for models with a paged cache; with slots maxSequences decides',
    );
  const onDevice: DeviceSlots = device === 'cpu' ? {} : await computeInDeviceSlots(parts, device);
  const { deviceNote } = onDevice;
  if (onDevice.computation !== undefined) return { ...onDevice.computation, deviceNote };
  return { ...(await computeInCpuSlots(parts)), deviceNote };
}

interface DeviceSlots {
  /** Absent where the model stays on the CPU; the note says why. */
  readonly computation?: Computation;
  readonly deviceNote?: string | undefined;
}

async function computeInDeviceSlots(
  { backend, manifest, options }: RunnerParts,
  device: Exclude<ModelDevice, 'cpu'>,
): Promise<DeviceSlots> {
  const { modelDir, isDeviceOptional, threadCount, tuning } = options;
  if (isDeviceOptional && manifest.kvType === 'int8')
    return {
      deviceNote: 'The model was built with an int8 KV cache, which only the CPU has, so it runs there.',
    };
  const threads = { threadCount, spin: tuning.spin };
  const session = await backend.createSession(resolve(modelDir, manifest.graphFile), { ...threads, device });
  const work = describeProcessorWork(session.processorOperators);
  // A graph in float16 cannot stay on the CPU.
  const mayStay = isDeviceOptional && !needsDevice(manifest);
  const deviceNote = work === undefined ? undefined : noteProcessorWork(device, work, { mayStay });
  if (work !== undefined && mayStay) {
    session.dispose();
    return { deviceNote };
  }
  const slots = { ...threads, slotCount: countSlots(options), contextLength: options.contextLength };
  const runner = await createDeviceSlotsRunner(backend, modelDir, manifest, { ...slots, device, session });
  return { computation: { runner, options }, deviceNote };
}

async function computeInCpuSlots({ backend, manifest, settleForCpu }: RunnerParts): Promise<Computation> {
  const options = settleForCpu();
  const { modelDir, contextLength, threadCount, tuning } = options;
  checkForProcessor(modelDir, manifest);
  const runner = await createSlotsRunner(backend, modelDir, manifest, {
    slotCount: countSlots(options),
    contextLength,
    threadCount,
    spin: tuning.spin,
    wideGraphs: tuning.w8a8Prefill,
  });
  // The model's threads wait while rows are sampled, so as many threads may sample.
  const samplingThreads = new SamplingThreads({
    threadCount: Math.min(threadCount, MOST_SAMPLING_THREADS) - 1,
  });
  const sampler = new Sampler(runner.facts.vocabSize);
  return { runner, options, stepSampler: createHostStepSampler(runner, sampler, samplingThreads) };
}

function countSlots({ maxSequences, tuning }: SettledOptions): number {
  return maxSequences + tuning.cacheSlots;
}

/** Throws: `model_invalid` for a graph in float16. */
function checkForProcessor(modelDir: string, manifest: ModelManifest): void {
  if (!needsDevice(manifest)) return;
  const message = `${manifest.graphFile}, which ${modelDir} names, has caches or logits in float16 and so needs a GPU (device "webgpu"). On the processor, take a graph in float32: model.onnx, model_q8.onnx or model_q4.onnx.`;
  throw new EngineError('model_invalid', message, { parameter: 'device' });
}

function needsDevice({ kvType, logitsType }: ModelManifest): boolean {
  return kvType === 'float16' || logitsType === 'float16';
}

function noteProcessorWork(device: string, work: string, { mayStay }: { readonly mayStay: boolean }): string {
  const left = `The device "${device}" has no kernels for some operators of this graph: ${work}.`;
  return mayStay
    ? `${left} So the whole model runs on the processor.`
    : `${left} They run on the processor, with copies at each step; a build of the checkpoint for a GPU has none of them.`;
}

async function computeInBlocks(parts: RunnerParts): Promise<Computation> {
  const { backend, manifest, options, onWarmUp } = parts;
  const { modelDir, maxSequences, contextLength, device, threadCount, tuning } = options;
  const { prefillChunkLength, cacheBytes, cacheSlots, spin, graphCapture } = tuning;
  const { vocabSize } = manifest;
  if (device === 'cpu') {
    const problem = `"cpu" cannot run ${modelDir}, which was built as "paged" for a GPU; use "webgpu" or "cuda"`;
    throw wrongOption('device', problem);
  }
  if (graphCapture && device !== 'webgpu')
    throw wrongOption('tuning.graphCapture', 'is for the device "webgpu"');
  const sessionOptions = { device, threadCount, spin };
  const runner = await createPagedRunner(backend, modelDir, manifest, {
    ...sessionOptions,
    maxSequences,
    contextLength,
    prefillChunkLength,
    cacheBytes,
    spareContexts: cacheSlots,
    recordsCalls: graphCapture,
    // Sampling begins when the cache is there already, so its memory must have been left.
    otherBytes: samplingMemoryBytes(vocabSize, countLogits(maxSequences, contextLength, vocabSize)),
    onWarmUp: (doneCount, totalCount) => onWarmUp?.({ doneCount, totalCount }),
  });
  try {
    const { stepSampler, note } = await createDeviceSampling(backend, runner, sessionOptions);
    return { runner, options, stepSampler, samplingNote: note };
  } catch (cause) {
    await runner.close();
    throw cause;
  }
}
