// Describes a built folder by its manifest.

import { stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { KV_TYPES, PRECISIONS, weightsFileName } from '@ortler/engine/graph-contract';
import { z } from 'zod';
import { type FoundManifest, readBuildManifest } from '../build-manifest.ts';
import { parseSettings } from '../exported/parse-settings.ts';
import type { FormatUse, ModelDescription } from './model-description.ts';

const builtManifest = z.object({
  modelType: z.string(),
  precision: z.enum(PRECISIONS),
  kvType: z.enum(KV_TYPES),
  variant: z.enum(['kernels', 'slots', 'paged', 'device-slots']),
  graphFile: z.string(),
  cudaGraphFile: z.string().optional(),
  layerCount: z.int().positive(),
  headCount: z.int().positive(),
  kvHeadCount: z.int().positive(),
  headSize: z.int().positive(),
  hiddenSize: z.int().positive(),
  vocabSize: z.int().positive(),
  layerCaches: z
    .array(
      z.object({
        kvHeadCount: z.int().positive(),
        headSize: z.int().positive(),
        window: z.int().positive().optional(),
        kvSource: z.int().nonnegative().optional(),
        states: z.array(z.array(z.int().positive())).optional(),
        hasKeys: z.boolean().optional(),
        keysOnly: z.boolean().optional(),
      }),
    )
    .optional(),
  contextLength: z.int().positive(),
  parameterCount: z.int().positive(),
  experts: z
    .object({
      count: z.int().positive(),
      chosen: z.int().positive(),
      weightBytes: z.int().positive(),
      activeParameterCount: z.int().positive(),
    })
    .optional(),
  weightFormats: z.record(z.string(), z.record(z.string(), z.int())).optional(),
});

/** Undefined for a folder that is not built. Throws: `source_invalid`, `config_invalid`, `unsupported`. */
export async function describeBuilt(folder: string): Promise<ModelDescription | undefined> {
  const found: FoundManifest | undefined = await readBuildManifest(folder);
  if (found === undefined) return undefined;
  const manifest = parseSettings(builtManifest, join(folder, 'ortler-model.json'), found);
  const { modelType, precision, kvType, variant, graphFile, contextLength, parameterCount } = manifest;
  const { layerCount, headCount, kvHeadCount, headSize, hiddenSize, vocabSize, layerCaches } = manifest;
  const shape = { layerCount, headCount, kvHeadCount, headSize, hiddenSize, vocabSize, layerCaches };
  const graph = isAbsolute(graphFile) ? graphFile : join(folder, graphFile);
  const sizes = await Promise.all([graph, weightsFileName(graph)].map(sizeOf));
  return {
    layout: 'built',
    architecture: modelType,
    shape,
    contextLength,
    longRope: found.longRope,
    parameterCount,
    experts: manifest.experts,
    weightBytes: sizes.reduce((sum, size) => sum + size, 0),
    formats: formatsOf(manifest),
    tensors: [],
    graphs: [],
    built: { precision, kvType, variant },
    cudaNorms: manifest.cudaGraphFile === undefined ? undefined : 'inside',
    fault: undefined,
  };
}

function formatsOf({ weightFormats = {} }: z.infer<typeof builtManifest>): readonly FormatUse[] {
  return Object.entries(weightFormats).flatMap(([role, counts]) =>
    Object.entries(counts).map(([type, tensorCount]) => ({
      role,
      type,
      tensorCount,
      elementCount: undefined,
      bytes: undefined,
    })),
  );
}

/** 0 for a file that is not there: an exported graph may have its weights inside. */
async function sizeOf(file: string): Promise<number> {
  const stats = await stat(file).catch(() => undefined);
  return stats?.size ?? 0;
}
