// The models of the comparison: one seeded checkpoint of a real shape, in the format of each contestant. Made once
// and kept in `.cache/bench`.

import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { buildModel } from '@ortler/model-builder';
import { createTinyCheckpoint, writeOptimumModel } from '@ortler/model-builder/testing';
import type { ContestantName } from './contestant-process.ts';
import { writeGguf } from './write-gguf.ts';

const CACHE = resolve(import.meta.dirname, '../../.cache/bench');

/** config.json of the published models, with a context long enough for every work. */
const SHAPES = {
  'smollm2-135m': {
    modelType: 'llama',
    config: {
      hidden_size: 576,
      intermediate_size: 1536,
      num_hidden_layers: 30,
      num_attention_heads: 9,
      num_key_value_heads: 3,
      head_dim: 64,
      vocab_size: 49_152,
      max_position_embeddings: 8192,
      rms_norm_eps: 1e-5,
      rope_theta: 100_000,
      tie_word_embeddings: true,
    },
  },
  'qwen2.5-0.5b': {
    modelType: 'qwen2',
    config: {
      hidden_size: 896,
      intermediate_size: 4864,
      num_hidden_layers: 24,
      num_attention_heads: 14,
      num_key_value_heads: 2,
      head_dim: 64,
      vocab_size: 151_936,
      max_position_embeddings: 8192,
      rms_norm_eps: 1e-6,
      rope_theta: 1_000_000,
      tie_word_embeddings: true,
    },
  },
} as const;

export type ShapeName = keyof typeof SHAPES;
export const SHAPE_NAMES = Object.keys(SHAPES) as ShapeName[];
export type PeerPrecision = 'f32' | 'q8' | 'q4';

export function vocabSizeOf(shape: ShapeName): number {
  return SHAPES[shape].config.vocab_size;
}

/** Path of the model as the contestant takes it, ours with that cache; makes it where it is missing. */
export async function peerModel(
  shape: ShapeName,
  precision: PeerPrecision,
  contestant: ContestantName,
  ownCache: 'float32' | 'int8' = 'float32',
): Promise<string> {
  const folder = join(CACHE, shape);
  await mkdir(folder, { recursive: true });
  const sourceDir = await once(join(folder, 'checkpoint'), path => {
    const { modelType, config } = SHAPES[shape];
    return createTinyCheckpoint(path, { modelType, weightType: 'BF16', config });
  });
  switch (contestant) {
    case 'ortler':
    case 'ortler-server':
      return once(join(folder, `ortler-${precision}${ownCache === 'int8' ? '-kv8' : ''}`), outputDir =>
        buildModel({ sourceDir, outputDir, precision, kvType: ownCache }),
      );
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
