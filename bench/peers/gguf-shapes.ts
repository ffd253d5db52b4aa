// Shapes of published recurrent models and mixtures of experts, as tensors of a GGUF file: all contestants
// read the same one.
// Source: config.json of the published models; llama.cpp, src/models/qwen35.cpp, lfm2.cpp and olmoe.cpp

import type { FieldToWrite } from '@ortler/gguf/testing';

/** How a tensor is stored and what it holds; `table`: embeddings and output matrix. */
export type TensorRole = 'matrix' | 'table' | 'float-matrix' | 'norm' | 'decay';

export interface ShapeTensor {
  readonly name: string;
  readonly role: TensorRole;
  /** Slowest dimension first. */
  readonly shape: readonly number[];
}

export interface GgufShape {
  readonly architecture: 'qwen35' | 'lfm2' | 'olmoe';
  readonly vocabSize: number;
  /** Keys under the architecture. */
  readonly fields: Readonly<Record<string, FieldToWrite>>;
  readonly tensors: readonly ShapeTensor[];
  /** Of all experts, those that a token has. Absent: no experts. */
  readonly expertShare?: number;
}

/** Sizes that the float32 comparison makes smaller, so that its file stays small. */
interface Sizes {
  readonly layerCount: number;
  readonly vocabSize: number;
  /** Of the MLP of an expert. */
  readonly expertWidth?: number;
}

const SMALL: Sizes = { layerCount: 4, vocabSize: 4_096, expertWidth: 64 };

const SHAPES = {
  'qwen3.5-0.8b': { make: qwen35, sizes: { layerCount: 24, vocabSize: 248_320 } },
  'lfm2-350m': { make: lfm2, sizes: { layerCount: 16, vocabSize: 65_536 } },
  // OLMoE-1B-7B has 16 layers: these are half of it, for a file of 2 GB.
  'olmoe-8-layers': { make: olmoe, sizes: { layerCount: 8, vocabSize: 50_304 } },
} as const;

export const GGUF_SHAPE_NAMES = Object.keys(SHAPES) as readonly GgufShapeName[];
export type GgufShapeName = keyof typeof SHAPES;

/** `isSmall`: with few layers and tokens and narrow experts, else of the same widths. */
export function ggufShape(name: GgufShapeName, isSmall: boolean): GgufShape {
  const { make, sizes } = SHAPES[name];
  return make(isSmall ? SMALL : sizes);
}

/** Three gated delta networks, then one attention. */
function qwen35({ layerCount, vocabSize }: Sizes): GgufShape {
  const [hidden, mlp, heads, kvHeads, headSize] = [1_024, 3_584, 8, 2, 256];
  const [deltaHeads, deltaSize, kernel] = [16, 128, 4];
  const deltaWidth = deltaHeads * deltaSize;
  const ofLayer = (layer: number): ShapeTensor[] => {
    const { norm, matrix, add } = tensorsOf(layer);
    const attention = [
      matrix('attn_q', 2 * heads * headSize, hidden),
      matrix('attn_k', kvHeads * headSize, hidden),
      matrix('attn_v', kvHeads * headSize, hidden),
      matrix('attn_output', hidden, heads * headSize),
      norm('attn_q_norm', headSize),
      norm('attn_k_norm', headSize),
    ];
    const delta = [
      matrix('attn_qkv', 3 * deltaWidth, hidden),
      matrix('attn_gate', deltaWidth, hidden),
      matrix('ssm_beta', deltaHeads, hidden),
      matrix('ssm_alpha', deltaHeads, hidden),
      matrix('ssm_out', hidden, deltaWidth),
      norm('ssm_norm', deltaSize),
      add('ssm_conv1d.weight', 'float-matrix', [3 * deltaWidth, kernel]),
      add('ssm_dt.bias', 'norm', [deltaHeads]),
      add('ssm_a', 'decay', [deltaHeads]),
    ];
    return [
      norm('attn_norm', hidden),
      ...(layer % 4 === 3 ? attention : delta),
      norm('post_attention_norm', hidden),
      ...gatedMlp(layer, hidden, mlp),
    ];
  };
  return {
    architecture: 'qwen35',
    vocabSize,
    fields: {
      ...commonFields({ layerCount, hidden, mlp, heads, headSize, theta: 10_000_000, epsilon: 1e-6 }),
      'attention.head_count_kv': { uint32: kvHeads },
      'rope.dimension_count': { uint32: headSize / 4 },
      'rope.dimension_sections': { int32s: [11, 11, 10, 0] },
      full_attention_interval: { uint32: 4 },
      'ssm.conv_kernel': { uint32: kernel },
      'ssm.state_size': { uint32: deltaSize },
      'ssm.group_count': { uint32: deltaHeads },
      'ssm.time_step_rank': { uint32: deltaHeads },
      'ssm.inner_size': { uint32: deltaWidth },
    },
    tensors: [...outer(vocabSize, hidden, 'output_norm'), ...allLayers(layerCount, ofLayer)],
  };
}

/** Short convolutions but in six layers. */
function lfm2({ layerCount, vocabSize }: Sizes): GgufShape {
  const [hidden, mlp, heads, kvHeads, headSize, kernel] = [1_024, 4_608, 16, 8, 64, 3];
  const attentionLayers = [2, 5, 8, 10, 12, 14];
  const ofLayer = (layer: number): ShapeTensor[] => {
    const { norm, matrix, add } = tensorsOf(layer);
    const attention = [
      matrix('attn_q', heads * headSize, hidden),
      matrix('attn_k', kvHeads * headSize, hidden),
      matrix('attn_v', kvHeads * headSize, hidden),
      matrix('attn_output', hidden, heads * headSize),
      norm('attn_q_norm', headSize),
      norm('attn_k_norm', headSize),
    ];
    const convolution = [
      matrix('shortconv.in_proj', 3 * hidden, hidden),
      matrix('shortconv.out_proj', hidden, hidden),
      add('shortconv.conv.weight', 'float-matrix', [hidden, kernel]),
    ];
    return [
      norm('attn_norm', hidden),
      ...(attentionLayers.includes(layer) ? attention : convolution),
      norm('ffn_norm', hidden),
      ...gatedMlp(layer, hidden, mlp),
    ];
  };
  const kvHeadsOf = (layer: number) => (attentionLayers.includes(layer) ? kvHeads : 0);
  return {
    architecture: 'lfm2',
    vocabSize,
    fields: {
      ...commonFields({ layerCount, hidden, mlp, heads, headSize, theta: 1_000_000, epsilon: 1e-5 }),
      'attention.head_count_kv': { int32s: Array.from({ length: layerCount }, (_, i) => kvHeadsOf(i)) },
      'rope.dimension_count': { uint32: headSize },
      'shortconv.l_cache': { uint32: kernel },
    },
    tensors: [...outer(vocabSize, hidden, 'token_embd_norm'), ...allLayers(layerCount, ofLayer)],
  };
}

/** 64 experts, 8 of which a token has. */
function olmoe({ layerCount, vocabSize, expertWidth: mlp = 1_024 }: Sizes): GgufShape {
  const [hidden, heads, headSize, experts, chosen] = [2_048, 16, 128, 64, 8];
  const ofLayer = (layer: number): ShapeTensor[] => {
    const { norm, matrix, add } = tensorsOf(layer);
    return [
      norm('attn_norm', hidden),
      ...['attn_q', 'attn_k', 'attn_v', 'attn_output'].map(name => matrix(name, hidden, hidden)),
      norm('attn_q_norm', hidden),
      norm('attn_k_norm', hidden),
      norm('ffn_norm', hidden),
      add('ffn_gate_inp.weight', 'float-matrix', [experts, hidden]),
      add('ffn_gate_exps.weight', 'matrix', [experts, mlp, hidden]),
      add('ffn_up_exps.weight', 'matrix', [experts, mlp, hidden]),
      add('ffn_down_exps.weight', 'matrix', [experts, hidden, mlp]),
    ];
  };
  return {
    architecture: 'olmoe',
    vocabSize,
    fields: {
      ...commonFields({ layerCount, hidden, mlp, heads, headSize, theta: 10_000, epsilon: 1e-5 }),
      'attention.head_count_kv': { uint32: heads },
      'rope.dimension_count': { uint32: headSize },
      expert_count: { uint32: experts },
      expert_used_count: { uint32: chosen },
    },
    tensors: [
      ...outer(vocabSize, hidden, 'output_norm'),
      { name: 'output.weight', role: 'table', shape: [vocabSize, hidden] },
      ...allLayers(layerCount, ofLayer),
    ],
    expertShare: chosen / experts,
  };
}

interface CommonSizes {
  readonly layerCount: number;
  readonly hidden: number;
  readonly mlp: number;
  readonly heads: number;
  readonly headSize: number;
  readonly theta: number;
  readonly epsilon: number;
}

function commonFields(sizes: CommonSizes): Record<string, FieldToWrite> {
  return {
    block_count: { uint32: sizes.layerCount },
    embedding_length: { uint32: sizes.hidden },
    feed_forward_length: { uint32: sizes.mlp },
    'attention.head_count': { uint32: sizes.heads },
    'attention.key_length': { uint32: sizes.headSize },
    'attention.value_length': { uint32: sizes.headSize },
    'attention.layer_norm_rms_epsilon': { float32: sizes.epsilon },
    'rope.freq_base': { float32: sizes.theta },
  };
}

function outer(vocabSize: number, hidden: number, lastNorm: string): ShapeTensor[] {
  return [
    { name: 'token_embd.weight', role: 'table', shape: [vocabSize, hidden] },
    { name: `${lastNorm}.weight`, role: 'norm', shape: [hidden] },
  ];
}

function gatedMlp(layer: number, hidden: number, mlp: number): ShapeTensor[] {
  const { matrix } = tensorsOf(layer);
  return [matrix('ffn_gate', mlp, hidden), matrix('ffn_up', mlp, hidden), matrix('ffn_down', hidden, mlp)];
}

function tensorsOf(layer: number) {
  const add = (name: string, role: TensorRole, shape: readonly number[]): ShapeTensor => ({
    name: `blk.${layer}.${name}`,
    role,
    shape,
  });
  return {
    add,
    norm: (name: string, size: number) => add(`${name}.weight`, 'norm', [size]),
    matrix: (name: string, rows: number, columns: number) => add(`${name}.weight`, 'matrix', [rows, columns]),
  };
}

function allLayers(count: number, ofLayer: (layer: number) => readonly ShapeTensor[]): ShapeTensor[] {
  return Array.from({ length: count }, (_, layer) => ofLayer(layer)).flat();
}
