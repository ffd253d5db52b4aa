// The matrices of a decoder that the CPU kernels multiply with, and the tensors of the checkpoint that each is made of.

import { EXPERT_WEIGHTS } from '@ortler/engine/graph-contract';
import { EMBEDDING_WEIGHT } from '../blocks/embedding.ts';
import { projectedParts } from '../blocks/head-norm.ts';
import { LM_HEAD_WEIGHT } from '../blocks/lm-head.ts';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import type { DecoderConfig, RecurrentConfig } from '../hugging-face/decoder-config.ts';
import type { DecoderWeights } from '../hugging-face/decoder-weights.ts';
import type { LatentAttention } from '../hugging-face/latent-attention.ts';
import type { ExpertMatrix } from '../hugging-face/layer-experts.ts';
import type { LayerMatrix } from '../hugging-face/layer-matrices.ts';

/**
 * `table`: the embedding table, and the output matrix. `gateUp`: gates and ups, or ups alone without a gate. `router`: what decides
 * between experts, or what a recurrent layer forgets and takes in; always in float32: it is small, and
 * another choice is another answer.
 */
export type MatrixRole =
  | 'table'
  | 'query'
  | 'key'
  | 'value'
  | 'attentionOutput'
  | 'gateUp'
  | 'down'
  | 'router';

export interface DecoderMatrix {
  readonly role: MatrixRole;
  /** In the graph. */
  readonly name: string;
  /** How many tensors have their tiles in turns, one group after the other; undefined for all. */
  readonly interleaved?: number;
  /** Whether it is a product of its own; else queries, keys and values are one. */
  readonly isAlone?: boolean;
  /** `[outputs, inputs]` each. Throws: as `WeightSource.tensor`. */
  tensors(weights: DecoderWeights): readonly CheckpointTensor[];
}

/** Tables first. One after the other, because a corrupt number of layers could exhaust memory. */
export function* decoderMatrices(config: DecoderConfig): Generator<DecoderMatrix> {
  yield EMBEDDING_TABLE;
  if (!config.tiedEmbeddings) yield OUTPUT_TABLE;
  if (config.perLayerInput !== undefined) yield* [PER_LAYER_TABLE, PER_LAYER_MODEL_PROJECTION];
  for (let layer = 0; layer < config.layerCount; layer++)
    for (const found of Object.values<DecoderMatrix | ExpertMatrices>({ ...layerMatrices(config, layer) }))
      yield* 'role' in found ? [found] : Object.values<DecoderMatrix>({ ...found });
}

export const EMBEDDING_TABLE: DecoderMatrix = {
  role: 'table',
  name: EMBEDDING_WEIGHT,
  tensors: weights => [weights.embedding()],
};

export const OUTPUT_TABLE: DecoderMatrix = {
  role: 'table',
  name: LM_HEAD_WEIGHT,
  tensors: weights => [weights.head()],
};

/** Rows for each token of all layers, which are looked up as those of the embedding table are. */
export const PER_LAYER_TABLE: DecoderMatrix = {
  role: 'table',
  name: 'model.embed_tokens_per_layer.weight',
  tensors: weights => [weights.perLayerEmbedding()],
};

export const PER_LAYER_MODEL_PROJECTION: DecoderMatrix = {
  role: 'gateUp',
  name: 'model.per_layer_model_projection.weight',
  tensors: weights => [weights.perLayerModelProjection()],
};

export interface LayerMatrices {
  readonly query?: DecoderMatrix;
  readonly key?: DecoderMatrix;
  readonly value?: DecoderMatrix;
  /** Of latent attention, with the matrix of queries before these where it has two. */
  readonly queryLatent?: DecoderMatrix;
  readonly keyValueLatent?: DecoderMatrix;
  readonly headKeys?: DecoderMatrix;
  readonly headValues?: DecoderMatrix;
  readonly attentionOutput?: DecoderMatrix;
  readonly recurrentInput?: DecoderMatrix;
  readonly recurrentGate?: DecoderMatrix;
  readonly recurrentBeta?: DecoderMatrix;
  readonly recurrentDecay?: DecoderMatrix;
  readonly recurrentOutput?: DecoderMatrix;
  /** Matrices of the MLP, or of the expert that all tokens share. */
  readonly gateUp?: DecoderMatrix;
  readonly down?: DecoderMatrix;
  readonly experts?: ExpertMatrices;
  readonly perLayerGate?: DecoderMatrix;
  readonly perLayerProjection?: DecoderMatrix;
}

/** Matrices of experts hold those of all experts, one after the other. */
export interface ExpertMatrices {
  readonly router: DecoderMatrix;
  /** Projections to and from the latent size. */
  readonly intoLatent?: DecoderMatrix;
  readonly fromLatent?: DecoderMatrix;
  readonly gateUp: DecoderMatrix;
  readonly down: DecoderMatrix;
  readonly sharedWeight?: DecoderMatrix;
}

/** In the order of the computation. */
export function layerMatrices(config: DecoderConfig, layer: number): LayerMatrices {
  const of = (role: MatrixRole, module: string, ...parts: readonly LayerMatrix[]): DecoderMatrix => ({
    role,
    name: `model.layers.${layer}.${module}.weight`,
    tensors: weights => parts.map(part => weights.matrix(layer, part)),
  });
  const { isGated, perLayerInput } = config;
  const { intermediateSize, hasExperts, recurrent, hasAttention } = config.layers[layer]!;
  const gateUp = () =>
    isGated ? of('gateUp', 'mlp.gate_up_proj', 'gate', 'up') : of('gateUp', 'mlp.up_proj', 'up');
  return {
    ...(recurrent === undefined ? {} : recurrentMatrices(recurrent, of)),
    ...(hasAttention && config.latent === undefined
      ? attentionMatrices(projectedParts(config, layer), of)
      : {}),
    ...(hasAttention && config.latent !== undefined ? latentMatrices(config.latent, of) : {}),
    ...(intermediateSize === 0 ? {} : { gateUp: gateUp(), down: of('down', 'mlp.down_proj', 'down') }),
    ...(hasExperts ? { experts: expertMatrices(config, layer) } : {}),
    ...(perLayerInput === undefined
      ? {}
      : {
          perLayerGate: of('gateUp', 'per_layer_input_gate', 'perLayerGate'),
          perLayerProjection: of('down', 'per_layer_projection', 'perLayerProjection'),
        }),
  };
}

function expertMatrices(config: DecoderConfig, layer: number): ExpertMatrices {
  const { latentSize, modules } = config.experts!;
  const { shared } = modules;
  const of = (role: 'gateUp' | 'down', module: string, ...parts: readonly ExpertMatrix[]): DecoderMatrix => ({
    role,
    name: `${EXPERT_WEIGHTS}.${layer}.${module}.weight`,
    interleaved: parts.length,
    tensors: weights => weights.experts(layer).matrices(...parts),
  });
  const beside = (role: MatrixRole, module: string, tensors: DecoderMatrix['tensors']): DecoderMatrix => ({
    role,
    name: `model.layers.${layer}.mlp.${module}.weight`,
    tensors,
  });
  return {
    router: beside('router', 'router', weights => [weights.experts(layer).router()]),
    ...(latentSize === undefined
      ? {}
      : {
          intoLatent: beside('gateUp', 'into_latent', weights => [weights.experts(layer).intoLatent()]),
          fromLatent: beside('down', 'from_latent', weights => [weights.experts(layer).fromLatent()]),
        }),
    gateUp: of('gateUp', config.isGated ? 'gate_up_proj' : 'up_proj', ...expertInner(config)),
    down: of('down', 'down_proj', 'down'),
    ...(shared?.weight === undefined
      ? {}
      : {
          sharedWeight: beside('router', 'shared_weight', weights => [
            weights.experts(layer).sharedWeight()!,
          ]),
        }),
  };
}

/** The matrices of an expert that read its input. */
export function expertInner({ isGated }: DecoderConfig): readonly ExpertMatrix[] {
  return isGated ? ['gate', 'up'] : ['up'];
}

type MatrixOf = (role: MatrixRole, module: string, ...parts: readonly LayerMatrix[]) => DecoderMatrix;

function attentionMatrices(own: readonly LayerMatrix[], of: MatrixOf) {
  return {
    query: of('query', 'self_attn.q_proj', 'query'),
    ...(own.includes('key') ? { key: of('key', 'self_attn.k_proj', 'key') } : {}),
    ...(own.includes('value') ? { value: of('value', 'self_attn.v_proj', 'value') } : {}),
    attentionOutput: of('attentionOutput', 'self_attn.o_proj', 'attentionOutput'),
  };
}

function latentMatrices({ queryRank }: LatentAttention, of: MatrixOf) {
  const alone = (role: MatrixRole, module: string, part: LayerMatrix): DecoderMatrix => ({
    ...of(role, module, part),
    isAlone: true,
  });
  const keyValueLatent = of('key', 'self_attn.kv_a_proj', 'keyValueLatent');
  return {
    ...(queryRank === undefined
      ? { query: of('query', 'self_attn.q_proj', 'query'), keyValueLatent }
      : {
          queryLatent: of('query', 'self_attn.q_a_proj', 'queryLatent'),
          keyValueLatent,
          query: alone('query', 'self_attn.q_b_proj', 'query'),
        }),
    headKeys: alone('key', 'self_attn.k_b_proj', 'headKeys'),
    headValues: alone('value', 'self_attn.v_b_proj', 'headValues'),
    attentionOutput: of('attentionOutput', 'self_attn.o_proj', 'attentionOutput'),
  };
}

/** In the roles of matrices of attention that do the same work. */
function recurrentMatrices({ kind }: RecurrentConfig, of: MatrixOf) {
  return {
    recurrentInput: of('query', 'recurrent.in_proj', 'recurrentInput'),
    ...(kind === 'gated-delta-net'
      ? {
          recurrentGate: of('gateUp', 'recurrent.z_proj', 'recurrentGate'),
          recurrentBeta: of('router', 'recurrent.b_proj', 'recurrentBeta'),
          recurrentDecay: of('router', 'recurrent.a_proj', 'recurrentDecay'),
        }
      : {}),
    ...(kind === 'mamba-2'
      ? {
          recurrentGate: of('gateUp', 'recurrent.z_proj', 'recurrentGate'),
          recurrentDecay: of('router', 'recurrent.dt_proj', 'recurrentDecay'),
        }
      : {}),
    recurrentOutput: of('attentionOutput', 'recurrent.out_proj', 'recurrentOutput'),
  };
}
