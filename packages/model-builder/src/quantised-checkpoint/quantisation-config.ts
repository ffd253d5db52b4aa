// `quantization_config` of config.json: how the linear layers of a checkpoint are packed. Which layers are quantised follows from their
// tensors, so lists of exceptions (`modules_to_not_convert`, `ignore`, `-:` patterns) need no evaluation: a layer that they name has
// floats. Bits and group sizes of a layer follow from shapes and must be among those declared here.

import { join } from 'node:path';
import { z } from 'zod';
import { CONFIG_FILE } from '../architectures/read-decoder-config.ts';
import type { ModelBuildError } from '../errors.ts';
import { configFault } from '../hugging-face/config-file.ts';
import { readJsonFile } from '../hugging-face/json-file.ts';
import { UNSUPPORTED_METHODS } from './unsupported-quantisation.ts';

/** Bits and groups that layers may have. */
export interface IntegerScheme {
  readonly bits: number;
  /** Undefined: all inputs of an output share a scale. */
  readonly groupSize: number | undefined;
}

export interface GptqConfig {
  readonly method: 'gptq';
  /** Zero points are stored less one. */
  readonly isVersion1: boolean;
  readonly schemes: readonly IntegerScheme[];
}

export type QuantisationConfig = GptqConfig;

const KEY = 'quantization_config';

const groupSize = z.int().refine(size => size === -1 || size > 0, 'must be -1 or positive');

const gptqFile = z.object({
  bits: z.int(),
  group_size: groupSize,
  checkpoint_format: z.string().nullish(),
  format: z.string().nullish(),
  pack_dtype: z.string().nullish(),
  dynamic: z.record(z.string(), z.record(z.string(), z.unknown())).nullish(),
});

/** The text part of a model of text and images may have the section in place of the whole. */
interface ConfigJson {
  readonly quantization_config?: unknown;
  readonly text_config?: { readonly quantization_config?: unknown } | null;
}

/** Of a folder. Throws: as `parseQuantisationConfig`; `source_invalid` for a config.json that cannot be read. */
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
  if (stored === undefined || stored === null) return undefined;
  const { quant_method: method } = parseSection(z.object({ quant_method: z.string() }), path, stored);
  if (method === 'gptq') return parseGptq(path, stored);
  throw unsupported(path, 'quant_method', method, UNSUPPORTED_METHODS);
}

function parseGptq(path: string, stored: unknown): GptqConfig {
  const file = parseSection(gptqFile, path, stored);
  const format = file.checkpoint_format ?? file.format ?? 'gptq';
  if (format !== 'gptq' && format !== 'gptq_v2')
    throw unsupported(path, 'checkpoint_format', format, UNSUPPORTED_METHODS);
  if ((file.pack_dtype ?? 'int32') !== 'int32')
    throw configFault(
      'unsupported',
      path,
      `${KEY}.pack_dtype`,
      `is ${JSON.stringify(file.pack_dtype)}; allowed is "int32"`,
    );
  const base = { bits: file.bits, groupSize: file.group_size };
  const schemes = [base];
  for (const [pattern, own] of Object.entries(file.dynamic ?? {})) {
    if (pattern.startsWith('-:')) continue;
    const parsed = parseSection(gptqFile.pick({ bits: true, group_size: true }).partial(), path, own, [
      'dynamic',
      pattern,
    ]);
    schemes.push({ bits: parsed.bits ?? base.bits, groupSize: parsed.group_size ?? base.groupSize });
  }
  const readable = schemes.filter(({ bits }) => bits === 4 || bits === 8);
  if (readable.length === 0)
    throw configFault('unsupported', path, `${KEY}.bits`, `is ${file.bits}; GPTQ is read with 4 and 8 bits`);
  return {
    method: 'gptq',
    isVersion1: format === 'gptq',
    schemes: readable.map(({ bits, groupSize: size }) => ({
      bits,
      groupSize: size === -1 ? undefined : size,
    })),
  };
}

/** Faults name the key inside the section. Throws: `config_invalid`. */
function parseSection<Schema extends z.ZodType>(
  schema: Schema,
  path: string,
  section: unknown,
  keys: readonly string[] = [],
): z.output<Schema> {
  const parsed = schema.safeParse(section);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  throw configFault('config_invalid', path, [KEY, ...keys, ...issue.path].join('.'), issue.message);
}

/** An error that says what reading `value` would need, where that is known. */
function unsupported(
  path: string,
  key: string,
  value: string,
  needs: Readonly<Record<string, string>>,
): ModelBuildError {
  const need = Object.hasOwn(needs, value) ? `, which would need ${needs[value]}` : '';
  return configFault(
    'unsupported',
    path,
    `${KEY}.${key}`,
    `is ${JSON.stringify(value)}${need}; read are gptq (4 and 8 bits)`,
  );
}
