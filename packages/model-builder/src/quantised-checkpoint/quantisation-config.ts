// `quantization_config` of config.json: how the linear layers of a checkpoint are packed. Which layers are quantised follows from their
// tensors, so lists of exceptions (`modules_to_not_convert`, `ignore`, `-:` patterns) and targets need no evaluation: a layer that is not
// quantised has floats. Bits and groups of a layer follow from shapes and must be among those declared here.

import { join } from 'node:path';
import { z } from 'zod';
import { CONFIG_FILE } from '../architectures/read-decoder-config.ts';
import { configFault } from '../hugging-face/config-file.ts';
import { readJsonFile } from '../hugging-face/json-file.ts';
import { type CompressedTensorsConfig, parseCompressedTensors } from './compressed-tensors-config.ts';
import { KEY, parseSection, unsupportedValue } from './config-section.ts';
import type { Float8Scheme, IntegerScheme } from './schemes.ts';
import { UNSUPPORTED_METHODS } from './unsupported-quantisation.ts';

export interface GptqConfig {
  readonly method: 'gptq';
  /** Zero points are stored less one. */
  readonly isVersion1: boolean;
  /** As declared, for estimates; layers say themselves. */
  readonly isSymmetric: boolean;
  readonly isOrdered: boolean;
  readonly schemes: readonly IntegerScheme[];
}

export interface AwqConfig {
  readonly method: 'awq';
  readonly schemes: readonly IntegerScheme[];
}

export interface Float8Config {
  readonly method: 'fp8';
  readonly floats: readonly Float8Scheme[];
}

/** Experts in MXFP4, which say themselves what they are. */
export interface Mxfp4Config {
  readonly method: 'mxfp4';
}

/** Linear layers that are quantised one by one. */
export type LayerQuantisation = GptqConfig | AwqConfig | CompressedTensorsConfig | Float8Config;
export type QuantisationConfig = LayerQuantisation | Mxfp4Config;

/** The text part of a model of text and images may have the section in place of the whole. */
interface ConfigJson {
  readonly quantization_config?: unknown;
  /** Of MLX, which writes the other key too. */
  readonly quantization?: unknown;
  readonly text_config?: { readonly quantization_config?: unknown } | null;
}

/**
 * The quantisation of a folder. Throws: as `parseQuantisationConfig`; `source_invalid` for a config.json that
 * cannot be read.
 */
export async function readQuantisationConfig(folder: string): Promise<QuantisationConfig | undefined> {
  const path = join(folder, CONFIG_FILE);
  return parseQuantisationConfig(path, await readJsonFile(path));
}

/**
 * The quantisation of a parsed config.json; undefined for checkpoints in floats.
 *
 * Throws: `unsupported` with what would be needed, `config_invalid`.
 */
export function parseQuantisationConfig(path: string, json: unknown): QuantisationConfig | undefined {
  const file = json as ConfigJson | null;
  const stored = file?.quantization_config ?? file?.text_config?.quantization_config;
  for (const [key, section] of Object.entries({ quantization: file?.quantization, [KEY]: stored }))
    if (isOfMlx(section)) throw configFault('unsupported', path, key, OF_MLX);
  if (stored === undefined || stored === null) return undefined;
  const { quant_method: method } = parseSection(z.object({ quant_method: z.string() }), path, stored);
  switch (method) {
    case 'gptq':
      return parseGptq(path, stored);
    case 'awq':
      return parseAwq(path, stored);
    case 'compressed-tensors':
      return parseCompressedTensors(path, stored);
    case 'fp8':
    case 'fbgemm_fp8':
      return parseFloat8(path, stored);
    case 'mxfp4':
      return { method: 'mxfp4' };
    default:
      throw unsupportedValue(path, 'quant_method', method, UNSUPPORTED_METHODS);
  }
}

const OF_MLX =
  'is that of MLX, which would need its own packing with biases; give the original repository, and quantise it here';

/** MLX names no method. */
function isOfMlx(section: unknown): boolean {
  const mlx = z.object({ group_size: z.number(), bits: z.number(), quant_method: z.undefined().optional() });
  return mlx.safeParse(section).success;
}

const groupSize = z.int().refine(size => size === -1 || size > 0, 'must be -1 or positive');

const gptqFile = z.object({
  bits: z.int(),
  group_size: groupSize,
  sym: z.boolean().nullish(),
  desc_act: z.boolean().nullish(),
  checkpoint_format: z.string().nullish(),
  format: z.string().nullish(),
  pack_dtype: z.string().nullish(),
  dynamic: z.record(z.string(), z.record(z.string(), z.unknown())).nullish(),
});

function parseGptq(path: string, stored: unknown): GptqConfig {
  const file = parseSection(gptqFile, path, stored);
  const format = file.checkpoint_format ?? file.format ?? 'gptq';
  if (format !== 'gptq' && format !== 'gptq_v2')
    throw unsupportedValue(path, 'checkpoint_format', format, UNSUPPORTED_METHODS);
  const packing = file.pack_dtype ?? 'int32';
  if (packing !== 'int32')
    throw configFault(
      'unsupported',
      path,
      `${KEY}.pack_dtype`,
      `is ${JSON.stringify(packing)}; allowed: "int32"`,
    );
  const schemes = [schemeOf(file.bits, file.group_size)];
  for (const [pattern, own] of Object.entries(file.dynamic ?? {})) {
    if (pattern.startsWith('-:')) continue;
    const keys = gptqFile.pick({ bits: true, group_size: true }).partial();
    const layer = parseSection(keys, path, own, ['dynamic', pattern]);
    schemes.push(schemeOf(layer.bits ?? file.bits, layer.group_size ?? file.group_size));
  }
  const readable = schemes.filter(({ bits }) => bits === 4 || bits === 8);
  if (readable.length === 0)
    throw configFault('unsupported', path, `${KEY}.bits`, `is ${file.bits}; GPTQ is read with 4 and 8 bits`);
  return {
    method: 'gptq',
    isVersion1: format === 'gptq',
    isSymmetric: file.sym ?? true,
    isOrdered: file.desc_act ?? false,
    schemes: readable,
  };
}

const awqFile = z.object({
  bits: z.int().nullish(),
  w_bit: z.int().nullish(),
  group_size: groupSize.nullish(),
  q_group_size: groupSize.nullish(),
  version: z.string().nullish(),
  format: z.string().nullish(),
  zero_point: z.boolean().nullish(),
});

function parseAwq(path: string, stored: unknown): AwqConfig {
  const file = parseSection(awqFile, path, stored);
  const bits = file.bits ?? file.w_bit ?? 4;
  if (bits !== 4)
    throw configFault('unsupported', path, `${KEY}.bits`, `is ${bits}; AWQ is read with 4 bits`);
  const version = (file.version ?? file.format ?? 'gemm').toLowerCase();
  if (version !== 'gemm') {
    const message = `is ${JSON.stringify(version)}, which would need the layout of another kernel; supported: "gemm"`;
    throw configFault('unsupported', path, `${KEY}.version`, message);
  }
  if (file.zero_point === false) {
    const message = 'is false, which would need layers without qzeros; AWQ is read with zero points';
    throw configFault('unsupported', path, `${KEY}.zero_point`, message);
  }
  return { method: 'awq', schemes: [schemeOf(bits, file.group_size ?? file.q_group_size ?? 128)] };
}

function schemeOf(bits: number, size: number): IntegerScheme {
  return { bits, groupSize: size === -1 ? undefined : size };
}

const float8File = z.object({
  fmt: z.string().nullish(),
  weight_block_size: z.tuple([z.int().positive(), z.int().positive()]).nullish(),
});

function parseFloat8(path: string, stored: unknown): Float8Config {
  const { fmt, weight_block_size: block } = parseSection(float8File, path, stored);
  if ((fmt ?? 'e4m3') !== 'e4m3')
    throw configFault('unsupported', path, `${KEY}.fmt`, `is ${JSON.stringify(fmt)}; supported: "e4m3"`);
  return { method: 'fp8', floats: [{ block: block ?? undefined }] };
}
