// Validates config.json of a checkpoint and maps it to the `DecoderConfig` of the graph. Hugging Face's names are used only
// up to here.

import { join } from 'node:path';
import { configFault, parseConfigFile } from '../hugging-face/config-file.ts';
import {
  type DecoderConfig,
  type DecoderConfigFile,
  decoderConfigFile,
} from '../hugging-face/decoder-config.ts';
import { readJsonFile } from '../hugging-face/json-file.ts';
import { parseRopeSettings, type RopeConfig } from '../hugging-face/rope.ts';
import { ARCHITECTURES } from './table.ts';

export const CONFIG_FILE = 'config.json';

/** Published default of `rope_theta` in transformers for all three architectures. */
const DEFAULT_ROPE_THETA = 10_000;

/** Reads and checks `config.json` of a folder. Throws: `source_invalid`, `config_invalid`, `unsupported`. */
export async function readDecoderConfig(sourceDir: string): Promise<DecoderConfig> {
  const path = join(sourceDir, CONFIG_FILE);
  return parseDecoderConfig(path, await readJsonFile(path));
}

/** Checks the parsed content of a `config.json`; `path` is for messages. Throws: `config_invalid`, `unsupported`. */
export function parseDecoderConfig(path: string, json: unknown): DecoderConfig {
  const modelType = (json as { model_type?: unknown } | null)?.model_type;
  const architecture = typeof modelType === 'string' ? ARCHITECTURES.get(modelType) : undefined;
  if (architecture === undefined) {
    const allowed = [...ARCHITECTURES.keys()].join(', ');
    throw configFault(
      'unsupported',
      path,
      'model_type',
      `is ${JSON.stringify(modelType)}; allowed are ${allowed}`,
    );
  }
  const file = parseConfigFile(decoderConfigFile, path, json);
  refuseUnsupported(path, file);
  const headSize = file.head_dim ?? architecture.defaultHeadSize(file);
  const kvHeadCount = file.num_key_value_heads ?? file.num_attention_heads;
  checkHeads(path, file.num_attention_heads, kvHeadCount, headSize);
  return {
    modelType: file.model_type,
    hiddenSize: file.hidden_size,
    intermediateSize: file.intermediate_size,
    layerCount: file.num_hidden_layers,
    headCount: file.num_attention_heads,
    kvHeadCount,
    headSize,
    vocabSize: file.vocab_size,
    contextLength: file.max_position_embeddings,
    normEpsilon: file.rms_norm_eps,
    rope: readRope(path, file),
    tiedEmbeddings: file.tie_word_embeddings,
    ...architecture.features(file),
  };
}

function refuseUnsupported(path: string, file: DecoderConfigFile): void {
  const activation = file.hidden_act ?? 'silu';
  if (activation !== 'silu') {
    throw configFault(
      'unsupported',
      path,
      'hidden_act',
      `is ${JSON.stringify(activation)}; allowed is "silu"`,
    );
  }
  if ((file.partial_rotary_factor ?? 1) !== 1) {
    throw configFault('unsupported', path, 'partial_rotary_factor', 'must be absent or 1');
  }
  // A decoder without a causal mask, as in embedding models, cannot generate token by token.
  if (file.is_causal === false) throw configFault('unsupported', path, 'is_causal', 'must be absent or true');
  if (Object.keys(file.per_layer_config ?? {}).length > 0)
    throw configFault(
      'unsupported',
      path,
      'per_layer_config',
      'must be absent or empty: all layers are alike',
    );
  const otherLayer = file.layer_types?.find(type => type !== 'full_attention');
  if (otherLayer !== undefined) {
    throw configFault(
      'unsupported',
      path,
      'layer_types',
      `holds "${otherLayer}"; allowed is "full_attention"`,
    );
  }
  // The first `max_window_layers` layers use full attention, so a window is active only if there are more layers.
  const windowed = file.use_sliding_window === true && file.sliding_window !== null;
  if (windowed && (file.max_window_layers ?? 0) < file.num_hidden_layers) {
    throw configFault(
      'unsupported',
      path,
      'use_sliding_window',
      'must be false: sliding windows are not built',
    );
  }
}

function checkHeads(path: string, headCount: number, kvHeadCount: number, headSize: number): void {
  if (headCount % kvHeadCount !== 0) {
    const message = `is ${kvHeadCount}; it must divide num_attention_heads, ${headCount}`;
    throw configFault('config_invalid', path, 'num_key_value_heads', message);
  }
  // GroupQueryAttention takes rotary tables of at most `headSize / 16 * 8` columns, so other sizes would be rotated only in
  // part.
  if (!Number.isInteger(headSize) || headSize % 16 !== 0) {
    throw configFault('unsupported', path, 'head_dim', `is ${headSize}; allowed are multiples of 16`);
  }
}

function readRope(path: string, file: DecoderConfigFile): RopeConfig {
  const scaling = readRopeBlock(path, 'rope_scaling', file.rope_scaling);
  const parameters = readRopeBlock(path, 'rope_parameters', file.rope_parameters);
  if (scaling && parameters && JSON.stringify(scaling.scaling) !== JSON.stringify(parameters.scaling)) {
    throw configFault('config_invalid', path, 'rope_parameters', 'says something else than rope_scaling');
  }
  const rope = {
    theta: readRopeTheta(path, {
      'rope_parameters.rope_theta': parameters?.theta,
      'rope_scaling.rope_theta': scaling?.theta,
      rope_theta: file.rope_theta ?? undefined,
    }),
    scaling: (parameters ?? scaling)?.scaling ?? { kind: 'none' as const },
  };
  checkOriginalLength(path, file, rope);
  return rope;
}

/** Versions of transformers read `rope_theta` from different keys, so all keys that are present must agree. */
function readRopeTheta(path: string, places: Readonly<Record<string, number | undefined>>): number {
  const [first, ...others] = Object.entries(places).filter(([, theta]) => theta !== undefined);
  if (first === undefined) return DEFAULT_ROPE_THETA;
  const other = others.find(([, theta]) => theta !== first[1]);
  if (other === undefined) return first[1]!;
  const message = `is ${first[1]}, but ${other[0]} is ${other[1]}; they must agree`;
  throw configFault('config_invalid', path, first[0], message);
}

/** Newer versions of transformers read the key beside the block, older ones the key in it, so both must agree. */
function checkOriginalLength(path: string, file: DecoderConfigFile, { scaling }: RopeConfig): void {
  if (scaling.kind !== 'llama3') return;
  const beside = file.original_max_position_embeddings ?? scaling.originalContextLength;
  if (beside === scaling.originalContextLength) return;
  const key = 'original_max_position_embeddings';
  const message = `is ${beside}, but the rotary scaling says ${scaling.originalContextLength}; they must agree`;
  throw configFault('config_invalid', path, key, message);
}

function readRopeBlock(path: string, key: string, value: Record<string, unknown> | null | undefined) {
  if (value === null || value === undefined) return undefined;
  const result = parseRopeSettings(value);
  if (result.kind === 'valid') return result;
  const code = result.kind === 'invalid' ? 'config_invalid' : 'unsupported';
  throw configFault(code, path, `${key}.${result.path}`, result.fault);
}
