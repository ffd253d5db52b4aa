// Small seeded checkpoints of every family with the logits and greedy tokens that transformers computes for them;
// `golden/make_goldens.py` wrote them.

import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fillSeeded } from '../src/testing/seeded-weights.ts';
import { tinyTokenizerFiles } from '../src/testing/tiny-tokenizer.ts';
import { type TensorToWrite, writeSafetensors } from '../src/testing/write-safetensors.ts';
import { largestDifference } from './slots-session.ts';

export interface GoldenPrompt {
  readonly tokens: readonly number[];
  /** Every `logitStride`th number of all logits, row after row. */
  readonly logits: readonly number[];
  readonly lastLogits: readonly number[];
  readonly greedy: readonly number[];
}

export type GoldenTensor = readonly [shape: readonly number[], scale: number, offset: number];

export interface GoldenCase {
  readonly name: string;
  readonly seed: number;
  /** The content of config.json. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Names as in the checkpoint, with the shape, and the scale and offset of the seeded values. */
  readonly tensors: Readonly<Record<string, GoldenTensor>>;
  readonly weightBitSum: number;
  readonly prompts: readonly GoldenPrompt[];
}

export interface GoldenFamily {
  /** The `model_type`. */
  readonly family: string;
  readonly provenance: Readonly<Record<string, string>>;
  readonly logitStride: number;
  readonly cases: readonly GoldenCase[];
}

const FOLDER = new URL('./golden/decoders/', import.meta.url);

export const DECODER_GOLDENS: readonly GoldenFamily[] = readdirSync(FOLDER)
  .sort()
  .map(name => JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')) as GoldenFamily);

/** Writes config.json, the weights and a tokenizer, and returns the tensors. */
export async function writeGoldenCheckpoint(folder: string, golden: GoldenCase): Promise<TensorToWrite[]> {
  const { seed } = golden;
  const tensors = Object.entries(golden.tensors).map(([name, [shape, scale, offset]]) => ({
    name,
    shape,
    fill: (target: Float32Array, start: number) => fillSeeded(target, { seed, name, start, scale, offset }),
  }));
  await mkdir(folder, { recursive: true });
  const { tokenizer, tokenizerConfig } = tinyTokenizerFiles();
  const files = { config: golden.config, tokenizer, tokenizer_config: tokenizerConfig };
  for (const [name, content] of Object.entries(files))
    await writeFile(join(folder, `${name}.json`), JSON.stringify(content));
  await writeSafetensors(join(folder, 'model.safetensors'), 'F32', tensors);
  return tensors;
}

/** Of the text part. */
function textConfig({ config }: GoldenCase): GoldenCase['config'] {
  return (config.text_config as GoldenCase['config'] | undefined) ?? config;
}

/** Whether layers have mixtures of experts. */
export function hasExperts(golden: GoldenCase): boolean {
  const { num_experts_per_tok, moe_k, moe_topk } = textConfig(golden);
  return [num_experts_per_tok, moe_k, moe_topk].some(chosen => chosen !== undefined && chosen !== 0);
}

const RECURRENT_KEYS = ['conv_L_cache', 'linear_conv_kernel_dim', 'mamba_d_conv', 'ssm_state_size'];

/** Whether the model has recurrent layers, in place of attention or beside it. */
export function hasRecurrentLayers(golden: GoldenCase): boolean {
  const config = textConfig(golden);
  return RECURRENT_KEYS.some(key => key in config);
}

/** Whether keys and values are products of latent rows. */
export function hasLatentRows(golden: GoldenCase): boolean {
  return 'kv_lora_rank' in textConfig(golden);
}

/** Largest difference of computed logits, one row per token of the prompt, from those of transformers. */
export function differenceFromGolden(
  rows: readonly ArrayLike<number>[],
  { logits, lastLogits }: GoldenPrompt,
  logitStride: number,
): number {
  const all = rows.flatMap(row => Array.from(row));
  const seen = all.filter((_, i) => i % logitStride === 0);
  return Math.max(largestDifference(seen, logits), largestDifference(rows.at(-1)!, lastLogits));
}

/** Deviation of the logits around zero, at least 1: the unit of differences that come from rounding. */
export function logitDeviation({ logits }: GoldenPrompt): number {
  return Math.max(1, Math.sqrt(logits.reduce((sum, logit) => sum + logit ** 2, 0) / logits.length));
}
