// The configuration of a GGUF file: its metadata as a config.json, which is checked as one, and the rest that config.json cannot
// say.
// Source: gguf-py, constants.py (Keys); llama.cpp, convert_hf_to_gguf.py.

import type { GgufModel } from '@ortler/gguf';
import { parseDecoderConfig } from '../architectures/read-decoder-config.ts';
import { ModelBuildError } from '../errors.ts';
import type { DecoderConfig, LayerConfig } from '../hugging-face/decoder-config.ts';
import { type ExpertModules, type ExpertsConfig, sharedModules } from '../hugging-face/experts-config.ts';
import { GGUF_ARCHITECTURES } from './architectures.ts';
import { ConfigFields } from './config-fields.ts';
import { readingGguf } from './gguf-fault.ts';
import { LONG_FACTORS, ROPE_FACTORS, SHORT_FACTORS } from './tensor-names.ts';

/** All experts of a layer are in one tensor for each matrix, whatever a checkpoint calls them. */
const GGUF_EXPERTS: Omit<ExpertModules, 'selectionBias' | 'shared'> = {
  router: 'mlp.gate',
  latent: { into: 'mlp.experts.into_latent', from: 'mlp.experts.from_latent' },
  matrices: {
    layout: 'stacked',
    gate: 'mlp.experts.gate_proj',
    up: 'mlp.experts.up_proj',
    down: 'mlp.experts.down_proj',
  },
};

const SPLIT_MLP = {
  gateUp: undefined,
  gate: 'mlp.gate_proj',
  up: 'mlp.up_proj',
  down: 'mlp.down_proj',
} as const;

function inGguf(experts: ExpertsConfig): ExpertsConfig {
  const { selectionBias, shared } = experts.modules;
  const weight = shared?.weight === undefined ? undefined : 'mlp.shared_expert_gate';
  return {
    ...experts,
    modules: {
      ...GGUF_EXPERTS,
      selectionBias: selectionBias === undefined ? undefined : 'mlp.gate.expert_bias',
      shared: shared === undefined ? undefined : sharedModules('mlp.shared_expert', weight),
    },
  };
}

function withKeysInTurns(layer: LayerConfig): LayerConfig {
  const { recurrent } = layer;
  return recurrent?.kind === 'gated-delta-net'
    ? { ...layer, recurrent: { ...recurrent, keysInTurns: true } }
    : layer;
}

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
  const scalingJson = (await readLongRope(model, fields, architecture)) ?? fields.ropeScaling(architecture);
  fields.refuseUnsupported(architecture, own);
  const headCount = fields.count(`${architecture}.attention.head_count`);
  const hiddenSize = fields.count(`${architecture}.embedding_length`);
  const { headSize = hiddenSize / headCount, rotatedSize } = own.hasLatentHeads
    ? {}
    : fields.headSizes(architecture, own);
  const has = (name: string) => model.has(name);
  // The first layer may have no attention.
  const hasInLayers = (name: string) => model.tensorNames.some(each => each.endsWith(`.${name}`));
  const predictionLayerCount = fields.wholeNumber(`${architecture}.nextn_predict_layers`);
  const rowCount = (name: string) => model.tensor(name)?.dimensions[1];
  const ropeFactors = await readFactors(model, ROPE_FACTORS);
  const configJson = {
    model_type: own.modelType,
    hidden_size: hiddenSize,
    intermediate_size:
      own.layersDiffer || own.hasNoMlp ? undefined : fields.count(`${architecture}.feed_forward_length`),
    num_hidden_layers: fields.count(`${architecture}.block_count`) - predictionLayerCount,
    num_attention_heads: headCount,
    num_key_value_heads: own.layersDiffer
      ? undefined
      : (fields.optionalCount(`${architecture}.attention.head_count_kv`) ?? headCount),
    head_dim: headSize,
    vocab_size: vocabularySize(model),
    max_position_embeddings: fields.count(`${architecture}.context_length`),
    ...normEpsilon(fields, architecture, own.layerNormKey),
    hidden_act: 'silu',
    rope_theta: fields.optionalNumber(`${architecture}.rope.freq_base`) ?? 10_000,
    ...(scalingJson === undefined ? {} : { rope_scaling: scalingJson }),
    tie_word_embeddings: !has('output.weight'),
    attention_bias: hasInLayers('attn_q.bias'),
    mlp_bias: has('blk.0.ffn_up.bias'),
    ...(own.rotatesPart && { partial_rotary_factor: (rotatedSize ?? headSize) / headSize }),
    ...own.configKeys?.({ fields, headSize, hiddenSize, headCount, ropeFactors, has, hasInLayers, rowCount }),
  };
  const config = parseDecoderConfig(model.path, configJson);
  const factors = own.readsRopeFactors ? undefined : ropeFactors;
  checkCount(model, factors, config.ropes[0]?.size ?? 0);
  if (factors !== undefined && scalingJson !== undefined) {
    const message = `${model.path}, tensor "${ROPE_FACTORS}": exists beside ${architecture}.rope.scaling.type; only one of them may`;
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
      experts: config.experts && inGguf(config.experts),
      modules: {
        ...config.modules,
        ...(own.splitsGateUp && SPLIT_MLP),
        ...(own.splitsInputGate && { recurrent: { ...config.modules.recurrent, headsInputGate: undefined } }),
      },
      layers: own.turnsKeyHeads ? config.layers.map(withKeysInTurns) : config.layers,
      predictionLayerCount,
      // In config.json one key says both.
      attentionOutputBias: hasInLayers('attn_output.bias'),
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

/** The block of config.json; undefined where the file has no factors of LongRoPE. Throws: `tensor_mismatch`, `config_invalid`. */
async function readLongRope(model: GgufModel, fields: ConfigFields, architecture: string) {
  const [short, long] = [await readFactors(model, SHORT_FACTORS), await readFactors(model, LONG_FACTORS)];
  if (short === undefined || long === undefined) return undefined;
  return {
    rope_type: 'longrope',
    short_factor: short,
    long_factor: long,
    original_max_position_embeddings: fields.count(`${architecture}.rope.scaling.original_context_length`),
    attention_factor: fields.optionalNumber(`${architecture}.rope.scaling.attn_factor`) ?? null,
  };
}

/** Throws: `tensor_mismatch`. */
function checkCount(model: GgufModel, factors: readonly number[] | undefined, rotatedSize: number): void {
  if (factors === undefined || factors.length === rotatedSize / 2) return;
  const fault = `has dimensions [${factors.length}]; heads whose first ${rotatedSize} elements are rotated ask for [${rotatedSize / 2}]`;
  throw factorFault(model, ROPE_FACTORS, fault);
}

/** Undefined where the file has no such tensor. Throws: `tensor_mismatch`. */
async function readFactors(model: GgufModel, name: string): Promise<number[] | undefined> {
  const tensor = model.tensor(name);
  if (tensor === undefined) return undefined;
  if (tensor.dimensions.length !== 1)
    throw factorFault(model, name, `has dimensions [${tensor.dimensions}]; allowed: one`);
  const factors = new Float32Array(tensor.dimensions[0]!);
  await readingGguf(() => model.readFloats(name, 0, factors));
  const other = factors.find(factor => !(Number.isFinite(factor) && factor > 0));
  if (other !== undefined) throw factorFault(model, name, `has the factor ${other}; factors must be above 0`);
  return [...factors];
}

function factorFault(model: GgufModel, tensor: string, fault: string): ModelBuildError {
  const file = model.fileOf(tensor);
  return new ModelBuildError('tensor_mismatch', `${file}, tensor "${tensor}": ${fault}`, { file, tensor });
}
