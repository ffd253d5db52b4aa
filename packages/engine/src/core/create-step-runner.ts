// Chooses and builds the step runner of a model: paged on a GPU, slots on the CPU, or slots on a GPU for graphs with
// GroupQueryAttention. Caller: `load-core.ts`.

import { resolve } from 'node:path';
import type { OrtBackend } from '@ortler/onnxruntime';
import { EngineError } from '../errors.ts';
import type { ModelManifest } from '../graph-contract/index.ts';
import { wrongOption } from '../protocol/check-options.ts';
import type { WarmUpProgress } from '../protocol/messages.ts';
import type { ModelDevice, SettledOptions } from '../protocol/settle-options.ts';
import { describeCpuOperators } from './runners/device-slots/cpu-operators.ts';
import { createDeviceSlotsRunner } from './runners/device-slots/device-slots-runner.ts';
import { countLogits } from './runners/logits-memory.ts';
import { chooseGraph } from './runners/paged/choose-graph.ts';
import { createPagedRunner } from './runners/paged/paged-runner.ts';
import { createSlotsRunner } from './runners/slots/slots-runner.ts';
import { samplingMemoryBytes } from './sampling/device/call-sizes.ts';
import { SamplingThreads } from './sampling/threads/sampling-threads.ts';
import { LONGEST_DRAFT } from './speculative-decoding/draft-policy.ts';
import { createDeviceStepRunner, type FoundStepRunner } from './step/device-step-runner.ts';
import { HostStepRunner } from './step/host-step-runner.ts';

/**
 * Maximum number of sampling threads. Each after the first takes 23 MB (ADR 37); with four, the sampler takes
 * far less than 5 % of a step.
 */
const MAX_SAMPLING_THREADS = 4;

export interface StepRunnerParts {
  readonly backend: OrtBackend;
  readonly manifest: ModelManifest;
  /** Settled for the device that the model is to run on. */
  readonly options: SettledOptions;
  /** The options of a model that falls back to the CPU. */
  readonly settleForCpu: () => SettledOptions;
  readonly onWarmUp: ((progress: WarmUpProgress) => void) | undefined;
}

/** The step runner, with notes for the facts of the model. */
export interface BuiltStepRunner extends FoundStepRunner {
  /** Settled for the device that the model runs on. */
  readonly options: SettledOptions;
  readonly deviceNote?: string | undefined;
}

/** Throws: `model_invalid` where graph and device do not fit, `engine_failed`, and errors of ONNX Runtime. */
export function createStepRunner(parts: StepRunnerParts): Promise<BuiltStepRunner> {
  return parts.manifest.variant === 'paged' ? createPaged(parts) : createSlots(parts);
}

/** Runs on a device if the caller names one: a graph with slots is slower there than a paged one. */
async function createSlots(parts: StepRunnerParts): Promise<BuiltStepRunner> {
  const { device, tuning } = parts.options;
  if (tuning.cacheBytes !== undefined) {
    const problem = 'is for models with a paged cache; with slots maxSequences decides';
    throw wrongOption('tuning.cacheBytes', problem);
  }
  if (device === 'cpu') return createCpuSlots(parts, undefined);
  const onDevice = await createDeviceSlots(parts, device);
  return onDevice.kind === 'on-device' ? onDevice.found : createCpuSlots(parts, onDevice.deviceNote);
}

/** Whether a graph with slots runs on the device; the note says why it stays on the CPU. */
type DeviceSlots =
  | { readonly kind: 'on-device'; readonly found: BuiltStepRunner }
  | { readonly kind: 'stays'; readonly deviceNote: string };

async function createDeviceSlots(
  { backend, manifest, options }: StepRunnerParts,
  device: Exclude<ModelDevice, 'cpu'>,
): Promise<DeviceSlots> {
  const { modelDir, isDeviceOptional, threadCount, contextLength, tuning } = options;
  if (manifest.variant === 'kernels') {
    const problem = `"${device}" cannot run ${modelDir}, which was built as "kernels" for a CPU`;
    if (!isDeviceOptional) throw wrongOption('device', problem);
    return { kind: 'stays', deviceNote: 'The model was built for the CPU, so it runs there.' };
  }
  if (manifest.kvType === 'int8' && device !== 'webgpu') {
    const problem = `"${device}" cannot run ${modelDir}, whose int8 KV cache is one of the WebGPU provider; use "webgpu", or build it with a float16 cache`;
    throw wrongOption('device', problem);
  }
  const threads = { threadCount, spin: tuning.spin };
  const session = await backend.createSession(resolve(modelDir, manifest.graphFile), {
    ...threads,
    device,
    int8KvCache: manifest.kvType === 'int8',
  });
  const operators = describeCpuOperators(session.cpuOperators);
  // A graph in float16 cannot stay on the CPU.
  const mayStay = isDeviceOptional && !needsDevice(manifest);
  if (operators !== undefined && mayStay) {
    session.dispose();
    return { kind: 'stays', deviceNote: noteCpuOperators(device, operators, { stays: true }) };
  }
  const runner = await createDeviceSlotsRunner(backend, modelDir, manifest, {
    ...threads,
    slotCount: countSlots(options),
    contextLength,
    device,
    session,
  });
  const deviceNote =
    operators === undefined ? noteSlots(manifest) : noteCpuOperators(device, operators, { stays: false });
  return { kind: 'on-device', found: { stepRunner: new HostStepRunner(runner), options, deviceNote } };
}

async function createCpuSlots(
  { backend, manifest, settleForCpu }: StepRunnerParts,
  deviceNote: string | undefined,
): Promise<BuiltStepRunner> {
  const options = settleForCpu();
  const { modelDir, maxSequences, contextLength, prefixCaching, threadCount, tuning } = options;
  checkForCpu(modelDir, manifest);
  checkKernels(backend, modelDir, manifest);
  const runner = await createSlotsRunner(backend, modelDir, manifest, {
    slotCount: countSlots(options),
    maxSequences,
    contextLength,
    longestRow: Math.max(tuning.prefillChunkLength, 1 + LONGEST_DRAFT),
    prefixCaching,
    longestDraft: tuning.speculativeDecoding === 'off' ? 0 : LONGEST_DRAFT,
    threadCount,
    spin: tuning.spin,
  });
  // The threads of the model are idle while rows are sampled, so as many threads may sample.
  const samplingThreads = new SamplingThreads({
    threadCount: Math.min(threadCount, MAX_SAMPLING_THREADS) - 1,
  });
  return {
    stepRunner: new HostStepRunner(runner, samplingThreads),
    options,
    deviceNote: deviceNote ?? noteMissingKernels(backend, manifest),
  };
}

async function createPaged({
  backend,
  manifest,
  options,
  onWarmUp,
}: StepRunnerParts): Promise<BuiltStepRunner> {
  const { modelDir, maxSequences, contextLength, device, threadCount, tuning } = options;
  const { prefillChunkLength, cacheBytes, cacheSlots, spin } = tuning;
  const { vocabSize } = manifest;
  if (device === 'cpu') {
    const problem = `"cpu" cannot run ${modelDir}, which was built as "paged" for a GPU; use "webgpu" or "cuda"`;
    throw wrongOption('device', problem);
  }
  const sessionOptions = { device, threadCount, spin };
  const { graphFile, note: deviceNote } = await chooseGraph(backend, manifest, sessionOptions);
  const runner = await createPagedRunner(backend, modelDir, manifest, {
    ...sessionOptions,
    graphFile,
    maxSequences,
    contextLength,
    prefillChunkLength,
    cacheBytes,
    spareContexts: cacheSlots,
    // The cache is allocated before the sampler, so it must leave memory for the sampler.
    otherBytes: samplingMemoryBytes(vocabSize, countLogits(maxSequences, contextLength, vocabSize)),
    onWarmUp: (doneCount, totalCount) => onWarmUp?.({ doneCount, totalCount }),
  });
  try {
    return { ...(await createDeviceStepRunner(backend, runner, sessionOptions)), options, deviceNote };
  } catch (cause) {
    await runner.close();
    throw cause;
  }
}

function countSlots({ maxSequences, tuning }: SettledOptions): number {
  return maxSequences + tuning.cacheSlots;
}

/** A model of our own builder runs without its kernels only where there are none; an export never has them. */
function noteMissingKernels(
  { kernels }: OrtBackend,
  { variant, inputConvention = 'lengths' }: ModelManifest,
): string | undefined {
  if (variant !== 'slots' || inputConvention !== 'lengths') return undefined;
  return 'isa' in kernels
    ? "The model was built for ONNX Runtime's own operators; a new build would use the CPU kernels."
    : `The CPU kernels cannot be used: ${kernels.missing}. The model runs on ONNX Runtime's own operators.`;
}

/** Throws: `model_invalid` where the graph's operators cannot be used. */
function checkKernels({ kernels }: OrtBackend, modelDir: string, { variant }: ModelManifest): void {
  if (variant !== 'kernels' || 'isa' in kernels) return;
  const message = `${modelDir} was built for the CPU kernels of Ortler, which cannot be used here: ${kernels.missing}. Build the checkpoint again on this machine, or with variant "slots".`;
  throw new EngineError('model_invalid', message);
}

/** Throws: `model_invalid` for a graph in float16. */
function checkForCpu(modelDir: string, manifest: ModelManifest): void {
  if (!needsDevice(manifest)) return;
  if (manifest.variant === 'device-slots') {
    const problem = `"cpu" cannot run ${modelDir}, which was built as "device-slots" for a GPU; use "webgpu" or "cuda"`;
    throw wrongOption('device', problem);
  }
  const message = `${manifest.graphFile}, which ${modelDir} names, has caches or logits in float16 and so needs a GPU (device "webgpu"). On the CPU, take a graph in float32: model.onnx, model_q8.onnx or model_q4.onnx.`;
  throw new EngineError('model_invalid', message, { parameter: 'device' });
}

function needsDevice({ variant, kvType, logitsType }: ModelManifest): boolean {
  if (variant === 'kernels') return false;
  if (variant === 'device-slots') return true;
  return kvType === 'float16' || logitsType === 'float16';
}

/** Of our own builds only: an export has no other form. */
function noteSlots({ variant }: ModelManifest): string | undefined {
  if (variant !== 'device-slots') return undefined;
  return 'PagedAttention cannot compute this model. Its attention is GroupQueryAttention, which takes one sequence a call.';
}

function noteCpuOperators(device: string, operators: string, { stays }: { readonly stays: boolean }): string {
  const left = `The device "${device}" has no kernels for some operators of this graph: ${operators}.`;
  return stays
    ? `${left} So the whole model runs on the CPU.`
    : `${left} They run on the CPU, with copies at each step; a build of the checkpoint for a GPU has none of them.`;
}
