// From a name or a path to a model that answers: the device is probed, the model is fetched and built once, the engine is
// started.

import { homedir } from 'node:os';
import { join } from 'node:path';
import { checkNames, checkOptions, createEngine, EngineError, type EngineOptions } from '@ortler/engine';
import { chooseVariants, KV_TYPES, PRECISIONS } from '@ortler/engine/graph-contract';
import { findTemplateFault } from '@ortler/engine/text-files';
import { type FetchModelOptions, resolveModel } from '@ortler/hub';
import {
  type BuildProgress,
  chooseExportFiles,
  type KvType,
  type Precision,
  prepareModel,
} from '@ortler/model-builder';
import { chooseDevice, probeKernels } from '@ortler/onnxruntime';
import { Model } from './model.ts';

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

/**
 * Loads a model by its name, `org/model`, `org/model@revision` or `org/model:Q4_K_M`, which is downloaded from the Hugging Face
 * Hub on first use; or by its path, which wins where it exists: a Hugging Face folder (`config.json`, `*.safetensors`,
 * `tokenizer.json`), a GGUF file, an ONNX export in the layout of transformers.js or onnxruntime-genai, or a folder that
 * model-builder wrote. Its first load builds an ONNX graph into the cache, in a thread of its own. `close` the model, or declare it
 * with `await using`: it keeps the program running.
 *
 * Throws: `ModelBuildError` for a folder that cannot be built, `OrtError` for a device that cannot be used, `EngineError` for
 * options or a model that cannot be run, `HubError` for a name that cannot be downloaded, and the reason of `signal`.
 *
 * @example
 * await using model = await loadModel('HuggingFaceTB/SmolLM2-135M-Instruct');
 * for await (const text of model.textStream('What is the capital of France?')) process.stdout.write(text);
 */
export async function loadModel(model: string, options: LoadModelOptions = {}): Promise<Model> {
  const {
    device: wanted = 'auto',
    precision = 'auto',
    kvType,
    adapterDir,
    cacheDir = join(homedir(), '.cache', 'ortler', 'models'),
    onBuildProgress,
    onDownloadProgress,
    hub = {},
    signal,
    ...engineOptions
  } = options;
  // Before a download, which may take an hour.
  for (const [name, instead] of Object.entries(SET_OPTIONS))
    if (Object.hasOwn(options, name)) throw wrongOption(name, `is set by loadModel: ${instead}`);
  checkOptions({ ...engineOptions, modelDir: '' }, OWN_OPTIONS);
  checkChoice('precision', precision);
  if (kvType !== undefined) checkChoice('kvType', kvType);
  checkNames('hub.', HUB_OPTIONS, hub);
  const templateFault = findTemplateFault(engineOptions.chatTemplate ?? '');
  if (templateFault !== undefined) throw wrongOption('chatTemplate', templateFault);
  const { device } = await chooseDevice(wanted);
  signal?.throwIfAborted();
  const variants = chooseVariants({ device, isOptional: wanted === 'auto' }, await probeKernels());
  const sourceDir = await resolveModel(model, {
    ...hub,
    chooseGraph: files => chooseExportFiles(files, { precision, variant: variants[0] }),
    onProgress: onDownloadProgress,
    signal,
  });
  const modelDir = await prepareModel({
    sourceDir,
    adapterDir,
    cacheDir,
    precision,
    variants,
    kvType,
    contextLength: engineOptions.contextLength,
    onProgress: onBuildProgress,
    signal,
  });
  signal?.throwIfAborted();
  const engine = await createEngine({
    ...engineOptions,
    modelDir,
    device,
    isDeviceOptional: wanted === 'auto',
  });
  if (signal?.aborted) {
    await engine.close();
    throw signal.reason;
  }
  return new Model(engine);
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
