// The configuration of a GGUF file: its metadata as a config.json, which is checked as one, and the rest that config.json cannot
// say.
// Source: gguf-py, constants.py (Keys); llama.cpp, convert_hf_to_gguf.py.

import type { GgufModel } from '@ortler/gguf';
import { parseDecoderConfig } from '../architectures/read-decoder-config.ts';
import { ModelBuildError } from '../errors.ts';
import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import { GGUF_ARCHITECTURES } from './architectures.ts';
import { ConfigFields } from './config-fields.ts';
import { readingGguf } from './gguf-fault.ts';
import { ROPE_FACTORS } from './tensor-names.ts';

export interface GgufConfig {
  readonly config: DecoderConfig;
  /** Content of the config.json of the model folder. */
  readonly configJson: Readonly<Record<string, unknown>>;
}

/** Throws: `unsupported`, `config_invalid`, `tensor_missing`, `tensor_mismatch`. */
export async function readGgufConfig(model: GgufModel): Promise<GgufConfig> {
  const fields = new ConfigFields(model);
  const architecture = fields.architecture([...GGUF_ARCHITECTURES.keys()]);
  const own = GGUF_ARCHITECTURES.get(architecture)!;
  const scalingJson = fields.ropeScaling(architecture);
  fields.refuseUnsupported(architecture, { hasWindows: own.hasWindows ?? false });
  const headCount = fields.count(`${architecture}.attention.head_count`);
  const hiddenSize = fields.count(`${architecture}.embedding_length`);
  const headSize = fields.headSize(architecture) ?? hiddenSize / headCount;
  const has = (name: string) => model.has(name);
  const configJson = {
    model_type: own.modelType,
    hidden_size: hiddenSize,
    intermediate_size: fields.count(`${architecture}.feed_forward_length`),
    num_hidden_layers: fields.count(`${architecture}.block_count`),
    num_attention_heads: headCount,
    num_key_value_heads: fields.optionalCount(`${architecture}.attention.head_count_kv`) ?? headCount,
    head_dim: headSize,
    vocab_size: vocabularySize(model),
    max_position_embeddings: fields.count(`${architecture}.context_length`),
    ...normEpsilon(fields, architecture, own.layerNormKey),
    hidden_act: 'silu',
    rope_theta: fields.optionalNumber(`${architecture}.rope.freq_base`) ?? 10_000,
    ...(scalingJson === undefined ? {} : { rope_scaling: scalingJson }),
    tie_word_embeddings: !has('output.weight'),
    attention_bias: has('blk.0.attn_q.bias'),
    mlp_bias: has('blk.0.ffn_gate.bias'),
    ...own.configKeys?.({ fields, headSize, hiddenSize, headCount }),
  };
  const config = parseDecoderConfig(model.path, configJson);
  const factors = await readRopeFactors(model, config.headSize);
  if (factors !== undefined && scalingJson !== undefined) {
    const message = `${model.path}, tensor "${ROPE_FACTORS}": is there beside ${architecture}.rope.scaling.type; allowed is one of them`;
    throw new ModelBuildError('unsupported', message, { file: model.path, tensor: ROPE_FACTORS });
  }
  return {
    configJson,
    config: {
      ...config,
      ...(factors === undefined
        ? {}
        : { ropes: config.ropes.map(rope => ({ ...rope, scaling: { kind: 'factors' as const, factors } })) }),
      // The values of the file have the one that others add to those of a checkpoint.
      norm: { ...config.norm, weightOffset: 0 },
      // In config.json one key says both.
      attentionOutputBias: has('blk.0.attn_output.bias'),
    },
  };
}

function normEpsilon(fields: ConfigFields, architecture: string, layerNormKey: string | undefined) {
  if (layerNormKey === undefined)
    return { rms_norm_eps: fields.number(`${architecture}.attention.layer_norm_rms_epsilon`) };
  return { [layerNormKey]: fields.number(`${architecture}.attention.layer_norm_epsilon`) };
}

/** Rows of the embedding table, which may have more than there are tokens. Throws: `tensor_missing`. */
function vocabularySize(model: GgufModel): number {
  const name = 'token_embd.weight';
  const rows = model.tensor(name)?.dimensions[1];
  if (rows !== undefined) return rows;
  const message = `${model.path}: no file of the model holds the matrix "${name}"`;
  throw new ModelBuildError('tensor_missing', message, { file: model.path, tensor: name });
}

/** Undefined where the file has none. Throws: `tensor_mismatch`. */
async function readRopeFactors(model: GgufModel, headSize: number): Promise<number[] | undefined> {
  const tensor = model.tensor(ROPE_FACTORS);
  if (tensor === undefined) return undefined;
  const [file, half] = [model.fileOf(ROPE_FACTORS), headSize / 2];
  const refuse = (fault: string) =>
    new ModelBuildError('tensor_mismatch', `${file}, tensor "${ROPE_FACTORS}": ${fault}`, {
      file,
      tensor: ROPE_FACTORS,
    });
  if (tensor.dimensions.length !== 1 || tensor.dimensions[0] !== half)
    throw refuse(`has dimensions [${tensor.dimensions}]; heads of ${headSize} elements ask for [${half}]`);
  const factors = new Float32Array(half);
  await readingGguf(() => model.readFloats(ROPE_FACTORS, 0, factors));
  const other = factors.find(factor => !(Number.isFinite(factor) && factor > 0));
  if (other !== undefined) throw refuse(`has the factor ${other}; factors must be above 0`);
  return [...factors];
}
