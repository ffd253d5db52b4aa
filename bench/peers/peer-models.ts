// The models of the comparison: one seeded checkpoint of a real shape, in the format of each contestant. Made once
// and kept in `.cache/bench`; ours once for each version of the builder.

import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ensureModel, type KvType } from '@ortler/model-builder';
import { createTinyCheckpoint, writeOptimumModel } from '@ortler/model-builder/testing';
import { MODEL_SHAPES } from '../model-shapes.ts';
import type { ContestantName } from './contestant-process.ts';
import { GGUF_SHAPE_NAMES, type GgufShapeName, ggufShape } from './gguf-shapes.ts';
import { writeGguf } from './write-gguf.ts';
import { writeRandomGguf } from './write-random-gguf.ts';

const CACHE = resolve(import.meta.dirname, '../../.cache/bench');

/** Long enough for every work. */
const CONTEXT_LENGTH = 8_192;

const CHECKPOINT_SHAPE_NAMES = ['smollm2-135m', 'qwen2.5-0.5b', 'qwen2.5-3b'] as const;
export const SHAPE_NAMES = [...CHECKPOINT_SHAPE_NAMES, ...GGUF_SHAPE_NAMES] as const;
export type ShapeName = (typeof SHAPE_NAMES)[number];
export type PeerPrecision = 'f32' | 'q8' | 'q4' | 'file';

/** Random weights of a shape, or a GGUF file. */
export type PeerModel = ShapeName | { readonly file: string };

/** All contestants read one GGUF file of the shape. */
export function isGgufShape(model: PeerModel): model is GgufShapeName {
  return GGUF_SHAPE_NAMES.some(name => name === model);
}

/** The float32 file of a GGUF shape has fewer layers and tokens. */
export function vocabSizeOf(shape: ShapeName, precision: PeerPrecision): number {
  if (isGgufShape(shape)) return ggufShape(shape, precision === 'f32').vocabSize;
  return MODEL_SHAPES[shape].config.vocab_size;
}

/** Path of the model as the contestant takes it, ours with that cache (default: as llama.cpp's); makes it where it is missing. */
export async function peerModel(
  model: PeerModel,
  precision: PeerPrecision,
  contestant: ContestantName,
  ownCache: KvType = precision === 'f32' ? 'float32' : 'float16',
): Promise<string> {
  if (typeof model === 'object' || isGgufShape(model)) {
    const sourceDir = typeof model === 'object' ? model.file : await shapeFile(model, precision);
    if (contestant !== 'ortler' && contestant !== 'ortler-server') return sourceDir;
    const own = precision === 'f32' ? 'f32' : 'file';
    return ensureModel({ sourceDir, cacheDir: join(CACHE, 'files'), precision: own, kvType: ownCache });
  }
  const folder = join(CACHE, model);
  await mkdir(folder, { recursive: true });
  const sourceDir = await once(join(folder, 'checkpoint'), path => {
    const { modelType, config } = MODEL_SHAPES[model];
    return createTinyCheckpoint(path, {
      modelType,
      weightType: 'BF16',
      config: { ...config, max_position_embeddings: CONTEXT_LENGTH },
    });
  });
  switch (contestant) {
    case 'ortler':
    case 'ortler-server':
      return ensureModel({ sourceDir, cacheDir: join(folder, 'ortler'), precision, kvType: ownCache });
    case 'transformers.js': {
      const name = `optimum-${precision}`;
      const path = await once(join(folder, name), outputDir =>
        writeOptimumModel({ sourceDir, outputDir, precision }),
      );
      // The library picks the graph file by this word.
      return `${path}:${precision === 'f32' ? 'fp32' : 'q4'}`;
    }
    default: {
      const type = precision === 'f32' ? 'f32' : 'q4_0';
      return once(join(folder, `${type}.gguf`), path => writeGguf(sourceDir, path, type));
    }
  }
}

async function shapeFile(name: GgufShapeName, precision: PeerPrecision): Promise<string> {
  const isFloat = precision === 'f32';
  const folder = join(CACHE, name);
  await mkdir(folder, { recursive: true });
  return once(join(folder, isFloat ? 'f32-small.gguf' : 'q4_0.gguf'), path =>
    writeRandomGguf(path, ggufShape(name, isFloat), isFloat ? 'f32' : 'q4_0', CONTEXT_LENGTH),
  );
}

/** Lets `make` fill a path beside `path` and gives it that name when it is whole. */
async function once(path: string, make: (path: string) => Promise<unknown>): Promise<string> {
  if (existsSync(path)) return path;
  console.error(`making ${path} ...`);
  const unfinished = `${path}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await make(unfinished);
  await rename(unfinished, path);
  return path;
}
