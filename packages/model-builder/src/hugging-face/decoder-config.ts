// The specification of a decoder: everything that its graph depends on besides the weights. Architectures fill it in from
// config.json; blocks know nothing else, and no `model_type`.

import type { ExpertsConfig } from './experts-config.ts';
import type { LatentAttention } from './latent-attention.ts';
import type { RopeConfig } from './rope.ts';

/** All parameters of the graph besides the weights. */
export interface DecoderConfig {
  readonly modelType: string;
  readonly hiddenSize: number;
  readonly intermediateSize: number;
  readonly layerCount: number;
  /** Layers of the checkpoint after these, which predict further tokens and are left out. */
  readonly predictionLayerCount: number;
  readonly headCount: number;
  readonly kvHeadCount: number;
  readonly headSize: number;
  readonly vocabSize: number;
  /** Unit: tokens. */
  readonly contextLength: number;
  readonly norm: NormConfig;
  /** Rotary tables, which layers name by index. */
  readonly ropes: readonly RopeConfig[];
  /** What differs from layer to layer. Head size, key heads and intermediate size of the model are those of most layers. */
  readonly layers: readonly LayerConfig[];
  /**
   * Multi-head latent attention; undefined for heads with matrices of keys and values. The heads of the cache are then latent rows
   * after rotated channels, one for each layer.
   */
  readonly latent: LatentAttention | undefined;
  /** Norms of queries and keys: before the rotation over each head or over all heads together, or after it over each head. */
  readonly queryKeyNorm: 'none' | 'head' | 'width' | 'rotated-head';
  /** A norm without weights over each head of values. */
  readonly normsValues: boolean;
  /** Factor of the attention scores; undefined for `headSize ** -0.5`. */
  readonly attentionScale: number | undefined;
  /** Scores become `cap * tanh(score / cap)`. */
  readonly attentionSoftcap: number | undefined;
  /** Queries are multiplied by `1 + growth * ln(1 + floor(position / period))`. Not together with norms over heads. */
  readonly queryScale: { readonly growth: number; readonly period: number } | undefined;
  /** The matrix of queries has the rows of a gate after those of each head, whose sigmoid multiplies the head's result. */
  readonly gatesAttention: boolean;
  readonly qkvBias: boolean;
  readonly attentionOutputBias: boolean;
  /** Each head has a score that belongs to no key, and takes its share of the softmax. */
  readonly hasSinks: boolean;
  readonly mlpBias: boolean;
  /** What layers with a mixture of experts have in common; undefined where no layer has one. */
  readonly experts: ExpertsConfig | undefined;
  /** Attention and MLP read the same normed input, and both are added to it. */
  readonly isParallel: boolean;
  readonly activation: Activation;
  /** `activation(gate) * up`; otherwise `activation(up)`. */
  readonly isGated: boolean;
  /** Factor of the embedding. */
  readonly embeddingScale: number;
  /** Factor of what attention and MLP add to the residual stream. */
  readonly residualScale: number;
  /** Factors of the results of matrices without biases, which are multiplied into their weights. */
  readonly matrixScales: Readonly<Partial<Record<ScaledMatrix, number>>>;
  /** Factor of the logits, before their soft cap. */
  readonly logitScale: number;
  readonly logitSoftcap: number | undefined;
  /** The residual stream is multiplied by a number of the checkpoint after each layer. */
  readonly hasLayerScale: boolean;
  /** Each layer adds something that depends on the token: embeddings of their own, with rows for all layers. */
  readonly perLayerInput: { readonly size: number; readonly vocabSize: number } | undefined;
  /** The output matrix is the embedding table. */
  readonly tiedEmbeddings: boolean;
  readonly modules: ModuleNames;
  /** The model is the text part of a wrapper, whose other weights are left out. */
  readonly isTextPart: boolean;
}

/** Whether anything but an attention operator needs the positions of tokens. */
export function readsPositions({ queryScale, queryKeyNorm }: DecoderConfig): boolean {
  return queryScale !== undefined || queryKeyNorm === 'rotated-head';
}

export interface LayerConfig {
  /** Index of the rotary table; undefined for a layer without positions. */
  readonly rope: number | undefined;
  /** Keys that a token sees, itself included; undefined for all. Unit: tokens. */
  readonly window: number | undefined;
  readonly headSize: number;
  readonly kvHeadCount: number;
  /** Size of the MLP; in a layer with experts, of the expert that all tokens share, 0 without one. */
  readonly intermediateSize: number;
  /** The layer has a mixture of experts in place of the MLP. */
  readonly hasExperts: boolean;
  /** The layer has no matrix of values: they are its keys before norm and rotation. */
  readonly valuesAreKeys: boolean;
  /** Earlier layer whose keys and values this one attends to; undefined for its own. */
  readonly kvSource: number | undefined;
  /** What the layer has in place of attention, or beside it; undefined for none. */
  readonly recurrent: RecurrentConfig | undefined;
  /**
   * Attention and the recurrent part read the same normed input, and both are added to the residual stream. A
   * layer may have neither.
   */
  readonly hasAttention: boolean;
}

/** Whether the layer has an MLP, or experts in place of it. */
export function hasMlp({ intermediateSize, hasExperts }: LayerConfig): boolean {
  return intermediateSize > 0 || hasExperts;
}

/** The recurrent part of a layer, which keeps earlier tokens in a state of fixed size. Sizes are whole vectors of 16. */
export type RecurrentConfig = ShortConvolution | GatedDeltaNet | Mamba2;

/** `C * convolution(B * x)`; B, C and x have the hidden size. Source: LFM2 */
export interface ShortConvolution {
  readonly kind: 'short-convolution';
  /** Tokens that a convolution covers. */
  readonly kernel: number;
  /** Whether the convolution and both matrices have biases. */
  readonly hasBias: boolean;
}

/** Linear attention with the gated delta rule, after a convolution of queries, keys and values. Source: arXiv 2412.06464 */
export interface GatedDeltaNet {
  readonly kind: 'gated-delta-net';
  readonly kernel: number;
  readonly keyHeadCount: number;
  readonly valueHeadCount: number;
  readonly keySize: number;
  readonly valueSize: number;
  /** Heads of values take the heads of keys in turns; else neighbours have the same. */
  readonly keysInTurns: boolean;
}

/** A selective state space, after a convolution of values, keys and queries (x, B and C). Source: arXiv 2405.21060 */
export interface Mamba2 {
  readonly kind: 'mamba-2';
  readonly kernel: number;
  readonly headCount: number;
  readonly headSize: number;
  /** Heads share keys and queries in groups. */
  readonly groupCount: number;
  readonly stateSize: number;
  readonly hasConvolutionBias: boolean;
  /** Whether the matrices have biases. */
  readonly hasBias: boolean;
  /** Lower bound of the time step. */
  readonly leastStep: number;
  /** An RMS norm for each group, in front of the gate or after it; undefined for a gate alone. */
  readonly norm: { readonly isFirst: boolean; readonly groupCount: number } | undefined;
  /** Factors of what the convolution reads, which are multiplied into its weights. */
  readonly inputScales: Readonly<Record<'values' | 'keys' | 'queries', number>>;
}

/** Channels of the convolution. */
export function convolvedSize(recurrent: RecurrentConfig, hiddenSize: number): number {
  if (recurrent.kind === 'short-convolution') return hiddenSize;
  if (recurrent.kind === 'mamba-2')
    return recurrent.headCount * recurrent.headSize + 2 * recurrent.groupCount * recurrent.stateSize;
  const { keyHeadCount, keySize, valueHeadCount, valueSize } = recurrent;
  return 2 * keyHeadCount * keySize + valueHeadCount * valueSize;
}

/** Shapes of the states of a layer. */
export function stateShapes(recurrent: RecurrentConfig, hiddenSize: number): readonly (readonly number[])[] {
  const inputs = [recurrent.kernel - 1, convolvedSize(recurrent, hiddenSize)];
  if (recurrent.kind === 'short-convolution') return [inputs];
  if (recurrent.kind === 'mamba-2')
    return [inputs, [recurrent.headCount, recurrent.stateSize, recurrent.headSize]];
  return [inputs, [recurrent.valueHeadCount, recurrent.keySize, recurrent.valueSize]];
}

/**
 * Elements of the result of a recurrent layer for a token, before the projection back to the residual stream.
 */
export function recurrentOutputSize(recurrent: RecurrentConfig, hiddenSize: number): number {
  switch (recurrent.kind) {
    case 'short-convolution':
      return hiddenSize;
    case 'gated-delta-net':
      return recurrent.valueHeadCount * recurrent.valueSize;
    case 'mamba-2':
      return recurrent.headCount * recurrent.headSize;
  }
}

export interface NormConfig {
  /** `layer` subtracts the mean first. */
  readonly kind: 'rms' | 'layer';
  readonly epsilon: number;
  /** Added to the weights of the checkpoint. */
  readonly weightOffset: 0 | 1;
  readonly hasBias: boolean;
}

export type ScaledMatrix =
  | 'query'
  | 'key'
  | 'value'
  | 'attentionOutput'
  | 'gate'
  | 'down'
  | 'recurrentGate'
  | 'recurrentDecay'
  | 'recurrentOutput';

/** `gelu-tanh`: GELU with the approximation by tanh. `relu2`: the square of ReLU. */
export type Activation = 'silu' | 'gelu-tanh' | 'relu2';

/** Names of modules in the checkpoint, within a layer. */
export interface ModuleNames {
  /** Norms of the input of attention and MLP, and of what they give; undefined where there is none. */
  readonly beforeAttention: string | undefined;
  readonly afterAttention: string | undefined;
  readonly beforeMlp: string | undefined;
  readonly afterMlp: string | undefined;
  readonly query: string;
  readonly key: string;
  readonly value: string;
  /** One matrix with the rows of queries, keys and values in turn, in place of the three. */
  readonly queryKeyValue: string | undefined;
  readonly attentionOutput: string;
  readonly queryNorm: string;
  readonly keyNorm: string;
  readonly gate: string;
  readonly up: string;
  /** One matrix with the rows of gates and ups in turn, in place of the two. */
  readonly gateUp: string | undefined;
  readonly down: string;
  readonly perLayerGate: string;
  readonly perLayerProjection: string;
  readonly afterPerLayerInput: string | undefined;
  /** The embedding table and the last norm, which are outside of layers. */
  readonly embedding: string;
  readonly finalNorm: string;
  readonly recurrent: RecurrentModules;
}

/** Names of the modules of a recurrent layer, and of its tensors without a module. */
export interface RecurrentModules {
  /** One matrix with the rows of gate, input and decay in turn, in place of the three. */
  readonly gateInputDecay: string | undefined;
  /** One matrix with the rows of query, key, values and gates of each head of keys in turn, in place of two. */
  readonly headsInputGate?: string | undefined;
  /** One matrix with the rows of betas and decays of each head of keys in turn, in place of two. */
  readonly headsBetaDecay?: string;
  /** What the convolution reads. */
  readonly input: string;
  readonly gate: string;
  readonly beta: string;
  readonly decay: string;
  readonly convolution: string;
  readonly decayLog: string;
  readonly decayBias: string;
  readonly skip: string;
  readonly norm: string;
  readonly output: string;
}

/** The names of Llama, which most architectures share. */
export const LLAMA_MODULES: ModuleNames = {
  beforeAttention: 'input_layernorm',
  afterAttention: undefined,
  beforeMlp: 'post_attention_layernorm',
  afterMlp: undefined,
  query: 'self_attn.q_proj',
  key: 'self_attn.k_proj',
  value: 'self_attn.v_proj',
  queryKeyValue: undefined,
  attentionOutput: 'self_attn.o_proj',
  queryNorm: 'self_attn.q_norm',
  keyNorm: 'self_attn.k_norm',
  gate: 'mlp.gate_proj',
  up: 'mlp.up_proj',
  gateUp: undefined,
  down: 'mlp.down_proj',
  perLayerGate: 'per_layer_input_gate',
  perLayerProjection: 'per_layer_projection',
  afterPerLayerInput: undefined,
  embedding: 'embed_tokens',
  finalNorm: 'norm',
  recurrent: {
    gateInputDecay: undefined,
    input: 'linear_attn.in_proj_qkv',
    gate: 'linear_attn.in_proj_z',
    beta: 'linear_attn.in_proj_b',
    decay: 'linear_attn.in_proj_a',
    convolution: 'linear_attn.conv1d',
    decayLog: 'linear_attn.A_log',
    decayBias: 'linear_attn.dt_bias',
    skip: 'linear_attn.D',
    norm: 'linear_attn.norm',
    output: 'linear_attn.out_proj',
  },
};
