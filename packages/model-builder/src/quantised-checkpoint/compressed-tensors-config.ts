// `quantization_config` of compressed-tensors: groups of layers, each with the scheme of its weights. Schemes of activations and of the
// KV cache have no effect: they are how a GPU would compute, and the kernels round activations more finely.

import { z } from 'zod';
import { configFault } from '../hugging-face/config-file.ts';
import { KEY, parseSection, unsupportedValue } from './config-section.ts';
import type { Float8Scheme, IntegerScheme } from './schemes.ts';
import { UNSUPPORTED_FORMATS } from './unsupported-quantisation.ts';

export interface CompressedTensorsConfig {
  readonly method: 'compressed-tensors';
  readonly integers: readonly CompressedIntegers[];
  readonly floats: readonly Float8Scheme[];
}

export interface CompressedIntegers extends IntegerScheme {
  /** Without zero points. */
  readonly isSymmetric: boolean;
}

/** Formats that are read. `mixed-precision`: every group has one of its own. */
const FORMATS = ['pack-quantized', 'int-quantized', 'naive-quantized', 'float-quantized', 'mixed-precision'];

const weightsFile = z.object({
  num_bits: z.int(),
  type: z.string().default('int'),
  symmetric: z.boolean().default(true),
  strategy: z.string().nullish(),
  group_size: z.int().nullish(),
  block_structure: z.union([z.tuple([z.int().positive(), z.int().positive()]), z.string()]).nullish(),
});

const sectionFile = z.object({
  format: z.string(),
  config_groups: z.record(
    z.string(),
    z.object({ weights: weightsFile.nullish(), format: z.string().nullish() }),
  ),
  sparsity_config: z.looseObject({ format: z.string().nullish() }).nullish(),
  transform_config: z.looseObject({ config_groups: z.record(z.string(), z.unknown()).nullish() }).nullish(),
});

/** Throws: `unsupported`, `config_invalid`. */
export function parseCompressedTensors(path: string, stored: unknown): CompressedTensorsConfig {
  const file = parseSection(sectionFile, path, stored);
  checkFormat(path, 'format', file.format);
  const sparsity = file.sparsity_config?.format;
  if (typeof sparsity === 'string' && sparsity !== 'dense')
    throw unsupportedValue(path, 'sparsity_config.format', sparsity, UNSUPPORTED_FORMATS);
  if (Object.keys(file.transform_config?.config_groups ?? {}).length > 0) {
    const message = 'declares transforms of activations, which would need Hadamard products in the graph';
    throw configFault('unsupported', path, `${KEY}.transform_config`, message);
  }
  const integers: CompressedIntegers[] = [];
  const floats: Float8Scheme[] = [];
  for (const [name, { weights, format }] of Object.entries(file.config_groups)) {
    const key = `config_groups.${name}`;
    if (typeof format === 'string') checkFormat(path, `${key}.format`, format);
    if (weights === undefined || weights === null) continue;
    if (weights.type === 'int') integers.push(integerScheme(path, key, weights));
    else floats.push(floatScheme(path, key, weights));
  }
  return { method: 'compressed-tensors', integers, floats };
}

function checkFormat(path: string, key: string, format: string): void {
  if (!FORMATS.includes(format)) throw unsupportedValue(path, key, format, UNSUPPORTED_FORMATS);
}

type Weights = z.output<typeof weightsFile>;

function integerScheme(
  path: string,
  key: string,
  { num_bits: bits, symmetric, group_size: size }: Weights,
): CompressedIntegers {
  if (bits !== 4 && bits !== 8) {
    const message = `is ${bits}; integers are read with 4 and 8 bits`;
    throw configFault('unsupported', path, `${KEY}.${key}.weights.num_bits`, message);
  }
  const isGrouped = size !== undefined && size !== null && size > 0;
  return { bits, groupSize: isGrouped ? size : undefined, isSymmetric: symmetric };
}

function floatScheme(
  path: string,
  key: string,
  { num_bits: bits, group_size: size, block_structure: structure, type }: Weights,
): Float8Scheme {
  if (type !== 'float' || bits !== 8) {
    const message = `is ${JSON.stringify(type)} with ${bits} bits; supported: integers with 4 and 8 bits and floats with 8`;
    throw configFault('unsupported', path, `${KEY}.${key}.weights.type`, message);
  }
  if (size !== undefined && size !== null && size > 0) return { block: [1, size] };
  if (structure === undefined || structure === null) return { block: undefined };
  // Older versions wrote "128x128".
  const block = typeof structure === 'string' ? structure.split('x').map(Number) : structure;
  const [rows, columns] = block;
  if (block.length === 2 && rows! > 0 && columns! > 0) return { block: [rows!, columns!] };
  const message = `is ${JSON.stringify(structure)}; it must be two positive numbers`;
  throw configFault('config_invalid', path, `${KEY}.${key}.weights.block_structure`, message);
}
