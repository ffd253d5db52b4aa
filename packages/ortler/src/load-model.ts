// From a name or a path to a model that answers: the device is probed, the model is fetched and built once, the engine is
// started.

import { homedir } from 'node:os';
import { join } from 'node:path';
import { createEngine } from '@ortler/engine';
import { chooseVariants } from '@ortler/engine/graph-contract';
import { resolveModel } from '@ortler/hub';
import { checkAdapter, chooseExportFiles, prepareModel } from '@ortler/model-builder';
import { chooseDevice, probeKernels } from '@ortler/onnxruntime';
import { checkLoadOptions, type LoadModelOptions } from './load-model-options.ts';
import { Model } from './model.ts';

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
  checkLoadOptions(options);
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
  // What is wrong besides the model shows before its download.
  if (adapterDir !== undefined) await checkAdapter(adapterDir);
  const { device } = await chooseDevice(wanted);
  signal?.throwIfAborted();
  const variants = chooseVariants({ device, isOptional: wanted === 'auto' }, await probeKernels());
  const sourceDir = await resolveModel(model, {
    ...hub,
    chooseGraph: async files =>
      adapterDir === undefined
        ? chooseExportFiles(files, { precision, variant: variants[0] })
        : REFUSED_GRAPH,
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
    modelDefaults: engineOptions.modelDefaults ?? true,
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

const REFUSED_GRAPH = {
  kind: 'refused',
  fault: 'has ONNX graphs only; an adapter is merged into the checkpoint that it was made from',
} as const;
