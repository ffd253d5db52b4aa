// config.json of a checkpoint, checked and turned into the few numbers a decoder graph is made of.
// Names of Hugging Face end here; everything after this file speaks of a `DecoderConfig`.

import { join } from 'node:path';
import { ARCHITECTURES } from '../architectures/table.ts';
import { configFault, parseConfigFile } from './config-file.ts';
import { type DecoderConfig, type DecoderConfigFile, decoderConfigFile } from './decoder-config.ts';
import { readJsonFile } from './json-file.ts';
import { parseRopeSettings, type RopeConfig } from './rope.ts';

const CONFIG_FILE = 'config.json';

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
  if (file.quantization_config !== undefined && file.quantization_config !== null) {
    const allowed = 'must be absent: only plain F32, F16 and BF16 weights are built';
    throw configFault('unsupported', path, 'quantization_config', allowed);
  }
  if ((file.partial_rotary_factor ?? 1) !== 1) {
    throw configFault('unsupported', path, 'partial_rotary_factor', 'must be absent or 1');
  }
  const otherLayer = file.layer_types?.find(type => type !== 'full_attention');
  if (otherLayer !== undefined) {
    throw configFault(
      'unsupported',
      path,
      'layer_types',
      `holds "${otherLayer}"; allowed is "full_attention"`,
    );
  }
  // The first `max_window_layers` layers see everything, so a window is active only when layers remain.
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
  // GroupQueryAttention takes rotary tables of `headSize / 16 * 8` columns at most, so other sizes would not be
  // rotated in full.
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
  return {
    theta: parameters?.theta ?? file.rope_theta ?? scaling?.theta ?? DEFAULT_ROPE_THETA,
    scaling: (parameters ?? scaling)?.scaling ?? { kind: 'none' },
  };
}

function readRopeBlock(path: string, key: string, value: Record<string, unknown> | null | undefined) {
  if (value === null || value === undefined) return undefined;
  const result = parseRopeSettings(value);
  if (result.kind === 'valid') return result;
  const code = result.kind === 'invalid' ? 'config_invalid' : 'unsupported';
  throw configFault(code, path, `${key}.${result.path}`, result.fault);
}
