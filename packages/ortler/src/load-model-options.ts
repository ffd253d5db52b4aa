// Options of `loadModel`, and their check before anything is downloaded, which may take an hour.

import { checkIsObject, checkNames, checkOptions, EngineError, type EngineOptions } from '@ortler/engine';
import { KV_TYPES, PRECISIONS } from '@ortler/engine/graph-contract';
import { findTemplateFault } from '@ortler/engine/text-files';
import type { FetchModelOptions } from '@ortler/hub';
import type { BuildProgress, KvType, Precision } from '@ortler/model-builder';

/** Beside those of the engine. Values of the first two are names from a list. */
const OWN_OPTIONS = {
  precision: ['auto', ...PRECISIONS],
  kvType: KV_TYPES,
  adapterDir: true,
  cacheDir: true,
  onBuildProgress: true,
  onDownloadProgress: true,
  hub: true,
  signal: true,
} as const satisfies Record<Exclude<keyof LoadModelOptions, keyof EngineOptions>, true | readonly string[]>;

/** Options of the engine that `loadModel` sets, with what a caller gives in their place. */
const SET_OPTIONS = {
  modelDir: 'the model is the first argument',
  isDeviceOptional: "with device 'auto' the device is optional",
} as const satisfies Partial<Record<keyof EngineOptions, string>>;

const HUB_OPTIONS = {
  offline: true,
  token: true,
  endpoint: true,
  cacheDir: true,
  onNotice: true,
  onPlan: true,
} as const satisfies Partial<Record<keyof FetchModelOptions, true>>;

export interface LoadModelOptions extends Omit<EngineOptions, 'device' | keyof typeof SET_OPTIONS> {
  /** Where the model runs. `auto` (default): a GPU over WebGPU where one works, else the CPU. */
  readonly device?: 'auto' | 'cpu' | 'webgpu' | 'cuda';
  /**
   * Weights of a build: `f32`, `f16` (GPU), `q8`, `q4`, or `file` (CPU): each matrix as the file has it. `auto` (default): `file`
   * for quantised GGUF files, else as exact as the size of the checkpoint allows. A folder that was built before keeps its
   * precision.
   */
  readonly precision?: 'auto' | Precision;
  /** Element type of the KV cache. Default: that of the build, float32 on the CPU and float16 on a GPU. */
  readonly kvType?: KvType;
  /** Folder of a PEFT LoRA adapter that is merged into the weights. */
  readonly adapterDir?: string;
  /** Where builds are kept. Default: `~/.cache/ortler/models`. */
  readonly cacheDir?: string;
  /** Called while a model is built; a model that is in the cache builds nothing. */
  readonly onBuildProgress?: (progress: BuildProgress) => void;
  /** Called while a model given by name is downloaded; not where the cache has it. */
  readonly onDownloadProgress?: FetchModelOptions['onProgress'];
  /**
   * For models given by name: `offline`, `token`, `endpoint`, `cacheDir`, and `onNotice` for waits and for the use of the cache.
   * Defaults are the variables of huggingface_hub: HF_HUB_OFFLINE, HF_TOKEN or its file, HF_ENDPOINT, HF_HOME or HF_HUB_CACHE.
   */
  readonly hub?: Pick<FetchModelOptions, keyof typeof HUB_OPTIONS>;
  /**
   * Ends download and build at once, and the start of the engine, which takes seconds, at its end. The next call resumes the
   * download.
   */
  readonly signal?: AbortSignal;
}

/** Throws: `model_invalid` naming the first option that is unknown or has a value that is not allowed. */
export function checkLoadOptions(options: LoadModelOptions): void {
  checkIsObject('', options);
  for (const [name, instead] of Object.entries(SET_OPTIONS))
    if (Object.hasOwn(options, name)) throw wrongOption(name, `is set by loadModel: ${instead}`);
  checkOptions({ ...options, modelDir: '' }, OWN_OPTIONS);
  const { precision, kvType, adapterDir, hub, chatTemplate } = options;
  if (precision !== undefined) checkChoice('precision', precision);
  if (kvType !== undefined) checkChoice('kvType', kvType);
  if (adapterDir !== undefined && typeof adapterDir !== 'string')
    throw wrongOption('adapterDir', `must be the path of a folder; got ${String(adapterDir)}`);
  if (hub !== undefined) checkNames('hub.', HUB_OPTIONS, hub);
  const templateFault = findTemplateFault(chatTemplate ?? '');
  if (templateFault !== undefined) throw wrongOption('chatTemplate', templateFault);
}

/** Throws: `model_invalid` naming the option. */
function checkChoice(name: 'precision' | 'kvType', value: string): void {
  const choices: readonly string[] = OWN_OPTIONS[name];
  if (choices.includes(value)) return;
  throw wrongOption(name, `must be one of ${choices.join(', ')}; got ${String(value)}`);
}

function wrongOption(name: string, problem: string): EngineError {
  return new EngineError('model_invalid', `The option ${name} ${problem}.`, { parameter: name });
}
