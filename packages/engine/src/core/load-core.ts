// Builds the token side of one model: manifest, settled options, ONNX Runtime binding, step runner, step loop. The links call it
// and nothing else of this folder.

import { join } from 'node:path';
import { type SelectedBackend, selectBackend } from '@ortler/onnxruntime';
import { isGpuVariant, type ModelManifest } from '../graph-contract/index.ts';
import type { WarmUpProgress } from '../protocol/messages.ts';
import type { CoreOptions } from '../protocol/options.ts';
import { type ModelDevice, type SettledOptions, settleOptions } from '../protocol/settle-options.ts';
import { createStepRunner } from './create-step-runner.ts';
import { EngineCore } from './engine-core.ts';
import { readManifest } from './manifest/read-manifest.ts';
import { fromOrtError } from './runners/runner-errors.ts';
import { readWeightBytes } from './runners/weight-bytes.ts';
import { DEVICE_DRAFTS } from './speculative-decoding/device-draft-policy.ts';
import { CPU_DRAFTS } from './speculative-decoding/draft-policy.ts';
import type { Drafter } from './speculative-decoding/drafter.ts';
import { PromptLookupDrafter } from './speculative-decoding/prompt-lookup-drafter.ts';
import type { StepRunner } from './step/step-runner.ts';

/**
 * Repeated failures of a call on a device mean device loss or a broken driver. Only a new process helps, so the first step
 * that is given up is fatal.
 */
const DEVICE_FAILURE_LIMIT = 1;

type SelectBackend = (choice: SettledOptions['tuning']['backend']) => Promise<SelectedBackend>;

/**
 * `select`: selects the ONNX Runtime binding; tests inject devices that fail.
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
  const found = await createStepRunner({
    backend,
    manifest,
    options: settled,
    settleForCpu: () => settleFor('cpu'),
    onWarmUp,
  });
  const { stepRunner, options: own, samplingNote, deviceNote } = found;
  const { prefillChunkLength, mixedChunkLength, maxQueuedSequences, speculativeDecoding } = own.tuning;
  return new EngineCore(stepRunner, {
    maxSequences: own.maxSequences,
    prefillChunkLength,
    mixedChunkLength,
    schedulingPolicy: own.schedulingPolicy,
    prefixCaching: own.prefixCaching,
    cacheEvents: own.cacheEvents,
    drafter: speculativeDecoding === 'off' ? null : createDrafter(stepRunner),
    maxQueuedSequences,
    backendNote: note,
    fatalFailureLimit: own.device === 'cpu' ? undefined : DEVICE_FAILURE_LIMIT,
    samplingNote,
    deviceNote,
    weightBytes: await readWeightBytes(join(options.modelDir, manifest.graphFile)),
  });
}

/** The device of the caller; default: the one that the folder was built for. */
function chooseModelDevice({ device = 'auto' }: CoreOptions, { variant }: ModelManifest): ModelDevice {
  if (device !== 'auto') return device;
  return isGpuVariant(variant) ? 'webgpu' : 'cpu';
}

/** Speculative decoding pays on a device where all rows of a step are one call and logits stay there. Null: none. */
function createDrafter({ model, deviceStats }: StepRunner): Drafter | null {
  if (model.facts.device === 'cpu') return new PromptLookupDrafter(CPU_DRAFTS);
  return deviceStats === undefined ? null : new PromptLookupDrafter(DEVICE_DRAFTS);
}
