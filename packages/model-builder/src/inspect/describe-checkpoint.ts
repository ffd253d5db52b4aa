// Describes a checkpoint, a Hugging Face folder or a GGUF file, from its configuration and the headers of its weights.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GgufModel } from '@ortler/gguf';
import { cudaNorms } from '../architectures/cuda-norms.ts';
import { CONFIG_FILE, readDecoderConfig } from '../architectures/read-decoder-config.ts';
import { type CheckpointSource, findCheckpoint } from '../checkpoint-source.ts';
import { ModelBuildError } from '../errors.ts';
import { activeParameters } from '../expert-facts.ts';
import { readingGguf } from '../gguf/gguf-fault.ts';
import { Checkpoint, listWeightFiles } from '../hugging-face/checkpoint.ts';
import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import { longRopeChoice } from '../hugging-face/long-rope.ts';
import { SafetensorsFile } from '../hugging-face/safetensors.ts';
import { findLayerCaches } from '../layer-caches.ts';
import { readQuantisationConfig } from '../quantised-checkpoint/quantisation-config.ts';
import { refuseUndeclared } from '../quantised-checkpoint/refuse-undeclared.ts';
import { describeLayers } from './describe-layers.ts';
import {
  countFormatUse,
  type DescribedExperts,
  type DescribedTensor,
  elementsOf,
  isOfText,
  type ModelDescription,
  type ModelShape,
  roleOf,
} from './model-description.ts';

/** A folder has several GGUF files only where one of them was meant. Throws: `source_invalid`, `weights_corrupt`. */
export async function describeCheckpoint(path: string): Promise<ModelDescription> {
  const source = await findCheckpoint(path);
  const isGguf = source.path !== source.folder;
  const { tensors, architecture } = isGguf
    ? await readGgufHeaders(source.path)
    : await readFolderHeaders(source.folder);
  const { config, fault } = await tryToOpen(source, isGguf);
  const parameterCount = tensors.filter(isOfText).reduce((sum, { shape }) => sum + elementsOf(shape), 0);
  return {
    layout: isGguf ? 'gguf' : 'safetensors',
    architecture,
    shape: config && shapeOf(config),
    contextLength: config?.contextLength,
    longRope: config && longRopeChoice(config),
    parameterCount,
    experts: config && expertsOf(config, parameterCount),
    weightBytes: tensors.reduce((sum, { bytes }) => sum + bytes, 0),
    formats: countFormatUse(tensors),
    tensors,
    graphs: [],
    built: undefined,
    cudaNorms: config && cudaNorms(config),
    fault,
  };
}

function expertsOf(config: DecoderConfig, parameterCount: number): DescribedExperts | undefined {
  if (config.experts === undefined) return undefined;
  const { count, chosen } = config.experts;
  return { count, chosen, activeParameterCount: activeParameters(config, parameterCount) };
}

function shapeOf(config: DecoderConfig): ModelShape {
  const { layerCount, headCount, kvHeadCount, headSize, hiddenSize, vocabSize } = config;
  const layerCaches = findLayerCaches('kernels', config);
  return { layerCount, headCount, kvHeadCount, headSize, hiddenSize, vocabSize, layerCaches };
}

/** What the builder says of it before it reads a weight. */
async function tryToOpen(
  source: CheckpointSource,
  isGguf: boolean,
): Promise<{ readonly config?: DecoderConfig; readonly fault: string | undefined }> {
  try {
    const config = isGguf ? await openGguf(source) : await openFolder(source.folder);
    await source.listFiles();
    return { config, fault: undefined };
  } catch (error) {
    if (error instanceof ModelBuildError) return { fault: error.message };
    throw error;
  }
}

async function openGguf(source: CheckpointSource): Promise<DecoderConfig> {
  const { config, weights } = await source.open();
  await weights.close();
  return config;
}

/** Opening a quantised folder as a whole would read its scales. */
async function openFolder(folder: string): Promise<DecoderConfig> {
  const config = await readDecoderConfig(folder);
  const quantisation = await readQuantisationConfig(folder);
  const checkpoint = await Checkpoint.open(folder);
  try {
    if (quantisation === undefined) refuseUndeclared(checkpoint, join(folder, CONFIG_FILE));
    return config;
  } finally {
    await checkpoint.close();
  }
}

interface Headers {
  readonly tensors: readonly DescribedTensor[];
  readonly architecture: string | undefined;
}

async function readFolderHeaders(folder: string): Promise<Headers> {
  const tensors: DescribedTensor[] = [];
  for (const file of await listWeightFiles(folder)) {
    if (!file.endsWith('.safetensors')) continue;
    const weights = await SafetensorsFile.open(join(folder, file));
    for (const { name, type, shape, begin, end } of weights.tensors.values())
      tensors.push({ name, role: roleOf(name, shape), type, shape, bytes: end - begin });
    await weights.close();
  }
  const quantisation = await readQuantisationConfig(folder).catch(() => undefined);
  return {
    tensors: quantisation === undefined ? tensors : describeLayers(tensors, quantisation),
    architecture: await readModelType(join(folder, CONFIG_FILE)),
  };
}

/** Faults of the file are those that `tryToOpen` finds. */
export async function readModelType(configFile: string): Promise<string | undefined> {
  const text = await readFile(configFile, 'utf8').catch(() => '');
  try {
    const { model_type: type } = JSON.parse(text) as { readonly model_type?: unknown };
    return typeof type === 'string' ? type : undefined;
  } catch {
    return undefined;
  }
}

async function readGgufHeaders(path: string): Promise<Headers> {
  const model = await readingGguf(() => GgufModel.open(path));
  await model.close();
  const tensors = model.tensorNames.map(name => {
    const { type, dimensions, begin, end } = model.tensor(name)!;
    // In GGUF the first dimension varies fastest.
    const shape = dimensions.toReversed();
    return { name, role: roleOf(name, shape), type: type.name, shape, bytes: end - begin };
  });
  const architecture = model.metadata.get('general.architecture');
  return { tensors, architecture: typeof architecture === 'string' ? architecture : undefined };
}
