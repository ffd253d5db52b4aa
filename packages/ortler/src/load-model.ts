// From the name of a folder to a model that answers: the device is probed, the folder is built once, the engine is started.

import { homedir } from 'node:os';
import { join } from 'node:path';
import { createEngine, type EngineOptions } from '@ortler/engine';
import { chooseVariant } from '@ortler/engine/graph-contract';
import { type BuildProgress, type KvType, type Precision, prepareModel } from '@ortler/model-builder';
import { chooseDevice, probeKernels } from '@ortler/onnxruntime';
import { Model } from './model.ts';

export interface LoadModelOptions extends Omit<EngineOptions, 'modelDir' | 'device' | 'isDeviceOptional'> {
  /** Where the model runs. `auto` (default): a GPU over WebGPU where one works, else the CPU. */
  readonly device?: 'auto' | 'cpu' | 'webgpu' | 'cuda';
  /**
   * Weights of a build: `f32`, `f16` (GPU), `q8` or `q4`. `auto` (default): as exact as the size of the checkpoint allows. A
   * folder that was built before keeps its precision.
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
  /** Ends the build; the engine itself starts within seconds. */
  readonly signal?: AbortSignal;
}

/**
 * Loads a model: a Hugging Face folder (`config.json`, `*.safetensors`, `tokenizer.json`), an ONNX export in the layout of
 * transformers.js, or a folder that model-builder wrote. Its first load builds an ONNX graph into the cache, in a thread of its
 * own. `close` the model, or declare it with `await using`: it keeps the program running.
 *
 * Throws: `ModelBuildError` for a folder that cannot be built, `OrtError` for a device that cannot be used, `EngineError` for
 * options or a model that cannot be run, and the reason of `signal`.
 *
 * @example
 * await using model = await loadModel('./SmolLM2-135M-Instruct');
 * for await (const text of model.textStream('What is the capital of France?')) process.stdout.write(text);
 */
export async function loadModel(folder: string, options: LoadModelOptions = {}): Promise<Model> {
  const {
    device: wanted = 'auto',
    precision = 'auto',
    kvType,
    adapterDir,
    cacheDir = join(homedir(), '.cache', 'ortler', 'models'),
    onBuildProgress,
    signal,
    ...engineOptions
  } = options;
  const { device } = await chooseDevice(wanted);
  signal?.throwIfAborted();
  const modelDir = await prepareModel({
    sourceDir: folder,
    adapterDir,
    cacheDir,
    precision,
    variant: chooseVariant(device, await probeKernels()),
    kvType,
    onProgress: onBuildProgress,
    signal,
  });
  return new Model(
    await createEngine({ ...engineOptions, modelDir, device, isDeviceOptional: wanted === 'auto' }),
  );
}
