// The small seeded checkpoints of the decoder goldens as GGUF files, written by the rules of llama.cpp's converter and not by the
// code that reads them.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeGguf, type FieldToWrite } from '@ortler/gguf/testing';
import { fillSeeded } from '../src/testing/seeded-weights.ts';
import type { GoldenCase } from './decoder-golden.ts';
import { scaleFloats, type TensorRule } from './gguf-rules.ts';

/** How the converter writes a family. */
export interface GgufPlan {
  /** `general.architecture`. */
  readonly architecture: string;
  /** `model_type` of the build, where it is not that of the family. */
  readonly modelType?: string;
  /** Metadata keys under the architecture beside those of all. */
  readonly fields?: Readonly<Record<string, FieldToWrite>>;
  /** Names of modules within a layer that are not Llama's. */
  readonly modules?: Readonly<Record<string, string>>;
  /** Weights of norms are written with one added. */
  readonly addsOne?: boolean;
  /** What else becomes of tensors of a layer. */
  readonly rule?: TensorRule;
  /** Factors of tensors outside layers, by their names in the checkpoint. */
  readonly scales?: Readonly<Record<string, number>>;
  /** Rows of queries and keys are moved as for Llama. */
  readonly permutes?: boolean;
  /** Keys of the converter that the plan contradicts, or leaves out, where that changes the model. */
  readonly unlikeConverter?: readonly string[];
  /** Factors of LongRoPE, as tensors of this name. */
  readonly vectors?: Readonly<Record<string, readonly number[]>>;
  /** The file cannot say this scale of scores, so it is in the queries, relative to the size of a head. */
  readonly queryScalar?: number;
}

const MODULES: Readonly<Record<string, string>> = {
  input_layernorm: 'attn_norm',
  post_attention_layernorm: 'ffn_norm',
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.qkv_proj': 'attn_qkv',
  'self_attn.o_proj': 'attn_output',
  'self_attn.q_norm': 'attn_q_norm',
  'self_attn.k_norm': 'attn_k_norm',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
  'block_sparse_moe.gate': 'ffn_gate_inp',
  'block_sparse_moe.router.layer': 'ffn_gate_inp',
  'mlp.gate': 'ffn_gate_inp',
  'self_attn.query_layernorm': 'attn_q_norm',
  'self_attn.key_layernorm': 'attn_k_norm',
  'mlp.gate_up_proj': 'ffn_up',
  'mlp.c_fc': 'ffn_up',
  'mlp.c_proj': 'ffn_down',
  per_layer_input_gate: 'inp_gate',
  per_layer_projection: 'proj',
  post_per_layer_input_norm: 'post_norm',
  'mlp.router': 'ffn_gate_inp',
  'mlp.shared_expert.gate_proj': 'ffn_gate_shexp',
  'mlp.shared_expert.up_proj': 'ffn_up_shexp',
  'mlp.shared_expert.down_proj': 'ffn_down_shexp',
  'mlp.shared_experts.gate_proj': 'ffn_gate_shexp',
  'mlp.shared_experts.up_proj': 'ffn_up_shexp',
  'mlp.shared_experts.down_proj': 'ffn_down_shexp',
  'mlp.shared_expert_gate': 'ffn_gate_inp_shexp',
  'mlp.gate.wg': 'ffn_gate_inp',
  'mlp.shared_mlp.gate_proj': 'ffn_gate_shexp',
  'mlp.shared_mlp.up_proj': 'ffn_up_shexp',
  'mlp.shared_mlp.down_proj': 'ffn_down_shexp',
  'mixer.gate': 'ffn_gate_inp',
  'mixer.fc1_latent_proj': 'ffn_latent_down',
  'mixer.fc2_latent_proj': 'ffn_latent_up',
  'mixer.shared_experts.up_proj': 'ffn_up_shexp',
  'mixer.shared_experts.down_proj': 'ffn_down_shexp',
};
/** Tensors of a layer without a part of their own. */
const WITHOUT_PART: Readonly<Record<string, string>> = {
  layer_scalar: 'layer_output_scale.weight',
  'self_attn.sinks': 'attn_sinks.weight',
  'feed_forward.expert_bias': 'exp_probs_b.bias',
  'mlp.gate.e_score_correction_bias': 'exp_probs_b.bias',
  'mixer.gate.e_score_correction_bias': 'exp_probs_b.bias',
  'mlp.moe_statics.e_score_correction_bias': 'exp_probs_b.bias',
  'pre_ff_layernorm.weight': 'ffn_norm',
};
const OUTER: Readonly<Record<string, string>> = {
  'model.embed_tokens.weight': 'token_embd.weight',
  'model.norm.weight': 'output_norm.weight',
  'model.norm.bias': 'output_norm.bias',
  'model.embeddings.weight': 'token_embd.weight',
  'model.norm_f.weight': 'output_norm.weight',
  'model.final_layernorm.weight': 'output_norm.weight',
  'model.embedding_norm.weight': 'token_embd_norm.weight',
  'lm_head.weight': 'output.weight',
  'model.embed_tokens_per_layer.weight': 'per_layer_token_embd.weight',
  'model.per_layer_model_projection.weight': 'per_layer_model_proj.weight',
  'model.per_layer_projection_norm.weight': 'per_layer_proj_norm.weight',
};

/** Writes `model.gguf` into the folder and returns its path. */
export async function writeFamilyGguf(folder: string, golden: GoldenCase, plan: GgufPlan): Promise<string> {
  const { config, seed } = golden;
  const headCount = config.num_attention_heads as number;
  const headSize = (config.head_dim as number | undefined) ?? (config.hidden_size as number) / headCount;
  const plain = Object.entries(golden.tensors).filter(([name]) => !EXPERTS.test(name));
  const tensors = plain.flatMap(([name, [shape, scale, offset]]) => {
    const values = new Float32Array(shape.reduce((product, size) => product * size, 1));
    fillSeeded(values, { seed, name, start: 0, scale, offset });
    const factor = plan.scales?.[name];
    if (factor !== undefined) scaleFloats(values, factor);
    const [, layer, inLayer] = /^(?:model|backbone)\.layers\.(\d+)\.(.+?)(?:\.weight)?$/.exec(name) ?? [];
    const converted =
      inLayer === undefined ? undefined : plan.rule?.({ name: inLayer, shape, values }, config);
    if (converted !== undefined)
      return converted.map(each => ({
        name: `blk.${layer}.${each.name}`,
        type: each.blocks?.type ?? ('F32' as const),
        dimensions: each.shape.toReversed(),
        bytes: each.blocks?.bytes ?? new Uint8Array(Float32Array.from(each.values).buffer),
      }));
    if (plan.addsOne && /norm\.weight$/.test(name)) for (const i of values.keys()) values[i]! += 1;
    // Norms of queries come after the projection.
    const scaled = golden.tensors['model.layers.0.self_attn.q_norm.weight'] ? '.q_norm.' : '.q_proj.';
    if (plan.queryScalar !== undefined && name.includes(scaled)) {
      const factor = Math.sqrt(headSize / plan.queryScalar);
      for (const i of values.keys()) values[i]! *= factor;
    }
    const moved =
      plan.permutes && /\.[qk]_proj\./.test(name) ? permuted(values, shape[0]!, headSize) : values;
    return {
      name: ggufName(name.replace(/^backbone\./, 'model.'), plan),
      type: 'F32' as const,
      // Of a convolution.
      dimensions: shape.filter((size, i) => i !== 1 || size !== 1 || shape.length !== 3).toReversed(),
      bytes: new Uint8Array(moved.buffer),
    };
  });
  tensors.push(...stackedExperts(golden));
  for (const [name, values] of Object.entries(plan.vectors ?? {})) {
    const bytes = new Uint8Array(Float32Array.from(values).buffer);
    tensors.push({ name, type: 'F32', dimensions: [values.length], bytes });
  }
  const path = join(folder, 'model.gguf');
  const metadata = { ...commonFields(config, plan.architecture, headSize), ...tokenizerFields(config) };
  const own = Object.entries(plan.fields ?? {}).map(([key, value]) => [`${plan.architecture}.${key}`, value]);
  await writeFile(path, encodeGguf({ metadata: { ...metadata, ...Object.fromEntries(own) }, tensors }));
  return path;
}

function ggufName(name: string, { modules }: GgufPlan): string {
  const outer = OUTER[name];
  if (outer !== undefined) return outer;
  const [, index, inLayer] = /^model\.layers\.(\d+)\.(.+)$/.exec(name)!;
  const whole = WITHOUT_PART[inLayer!];
  if (whole !== undefined) return `blk.${index}.${whole}`;
  const [, layer, module, part] = /^model\.layers\.(\d+)\.(.+)\.(weight|bias)$/.exec(name)!;
  return `blk.${layer}.${modules?.[module!] ?? MODULES[module!] ?? module}.${part}`;
}

/** Matrices of experts: one tensor for each, or `[experts, outputs, inputs]`, with ups after gates. */
const EXPERTS =
  /^(?:model|backbone)\.layers\.(\d+)\.(?!shared_mlp)\w+\.(?:experts\.(\d+)\.(\w+)\.weight|((?:in|out)put_linear)\.weight)$/;
const EXPERT_ROLES: Readonly<Record<string, string>> = {
  gate_proj: 'gate',
  up_proj: 'up',
  down_proj: 'down',
  w1: 'gate',
  w3: 'up',
  w2: 'down',
  output_linear: 'down',
};

/** One tensor for each matrix of all experts of a layer. */
function stackedExperts({ tensors, seed }: GoldenCase) {
  const stacks = new Map<string, { readonly shape: readonly number[]; readonly parts: Float32Array[] }>();
  const add = (
    layer: string,
    role: string,
    shape: readonly number[],
    values: Float32Array,
    expert?: string,
  ) => {
    const name = `blk.${layer}.ffn_${role}_exps.weight`;
    const stack = stacks.get(name) ?? { shape, parts: [] };
    stack.parts[expert === undefined ? stack.parts.length : Number(expert)] = values;
    stacks.set(name, stack);
  };
  for (const [name, [shape, scale, offset]] of Object.entries(tensors)) {
    const [, layer, expert, module, joined] = EXPERTS.exec(name) ?? [];
    if (layer === undefined) continue;
    const values = new Float32Array(shape.reduce((product, size) => product * size, 1));
    fillSeeded(values, { seed, name, start: 0, scale, offset });
    const matrix = shape.slice(-2) as [number, number];
    if (joined !== 'input_linear') {
      const size = matrix[0] * matrix[1];
      for (let at = 0; at < values.length; at += size)
        add(layer, EXPERT_ROLES[(module ?? joined)!]!, matrix, values.subarray(at, at + size), expert);
      continue;
    }
    const half = [matrix[0] / 2, matrix[1]] as const;
    const size = half[0] * half[1];
    for (let at = 0; at < values.length; at += size)
      add(layer, (at / size) % 2 === 0 ? 'gate' : 'up', half, values.subarray(at, at + size));
  }
  return [...stacks].map(([name, { shape, parts }]) => {
    const values = Float32Array.from(parts.flatMap(part => [...part]));
    const dimensions = [shape[1]!, shape[0]!, parts.length];
    return { name, type: 'F32' as const, dimensions, bytes: new Uint8Array(values.buffer) };
  });
}

/** Rows `0, half, 1, half + 1, ...` of each head. */
function permuted(values: Float32Array, rowCount: number, headSize: number): Float32Array<ArrayBuffer> {
  const width = values.length / rowCount;
  const moved = new Float32Array(values.length);
  for (let row = 0; row < rowCount; row++) {
    const inside = row % headSize;
    const from = row - inside + (inside % 2) * (headSize / 2) + (inside >> 1);
    moved.set(values.subarray(from * width, (from + 1) * width), row * width);
  }
  return moved;
}

function commonFields(config: GoldenCase['config'], architecture: string, headSize: number) {
  const count = (key: string) => ({ uint32: config[key] as number });
  const layerNorm = ['layer_norm_eps', 'norm_eps', 'norm_epsilon', 'layer_norm_epsilon'].find(
    key => config[key] !== undefined,
  );
  const epsilon = (config.rms_norm_eps ?? config[layerNorm!]) as number;
  const rope = (config.rope_parameters ?? config) as { readonly rope_theta?: number };
  const fields: Record<string, FieldToWrite> = {
    block_count: count('num_hidden_layers'),
    context_length: count('max_position_embeddings'),
    embedding_length: count('hidden_size'),
    ...(config.intermediate_size !== undefined && { feed_forward_length: count('intermediate_size') }),
    'attention.head_count': count('num_attention_heads'),
    'attention.head_count_kv': count('num_key_value_heads'),
    'attention.key_length': { uint32: headSize },
    'attention.value_length': { uint32: headSize },
    [`attention.layer_norm_${layerNorm === undefined ? 'rms_' : ''}epsilon`]: { float32: epsilon },
    ...(rope.rope_theta !== undefined && { 'rope.freq_base': { float32: rope.rope_theta } }),
  };
  return {
    'general.architecture': architecture,
    ...Object.fromEntries(Object.entries(fields).map(([key, value]) => [`${architecture}.${key}`, value])),
  };
}

function tokenizerFields(config: GoldenCase['config']): Record<string, FieldToWrite> {
  const count = config.vocab_size as number;
  return {
    'tokenizer.ggml.model': 'gpt2',
    'tokenizer.ggml.pre': 'gpt-2',
    'tokenizer.ggml.tokens': ['a', 'b', 'ab', ...Array.from({ length: count - 3 }, (_, i) => `t${i}`)],
    'tokenizer.ggml.merges': ['a b'],
    'tokenizer.ggml.eos_token_id': { uint32: 1 },
  };
}
