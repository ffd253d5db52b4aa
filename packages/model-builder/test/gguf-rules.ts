// What llama.cpp's converter makes of tensors that it does more with than to rename and stack them.
// Source: llama.cpp, conversion/qwen.py, conversion/gpt_oss.py, conversion/deepseek.py, conversion/granite.py, conversion/mamba.py and
// conversion/falcon_h1.py

import type { GgufType } from '@ortler/gguf';
import type { GoldenCase } from './decoder-golden.ts';

export interface PlainTensor {
  /** Without the layer and without `.weight`. */
  readonly name: string;
  readonly shape: readonly number[];
  readonly values: Float32Array;
  /** Blocks in place of the values. */
  readonly blocks?: { readonly type: GgufType; readonly bytes: Uint8Array };
}

/** Tensors in place of one of a layer, with the names of the file; undefined where it is only renamed. */
export type TensorRule = (
  tensor: PlainTensor,
  config: GoldenCase['config'],
) => readonly PlainTensor[] | undefined;

/** Names of the matrices and norms of latent attention that GGUF files name otherwise. */
export const LATENT_MODULES: Readonly<Record<string, string>> = {
  'self_attn.q_a_proj': 'attn_q_a',
  'self_attn.q_a_layernorm': 'attn_q_a_norm',
  'self_attn.q_b_proj': 'attn_q_b',
  'self_attn.kv_a_proj_with_mqa': 'attn_kv_a_mqa',
  'self_attn.kv_a_layernorm': 'attn_kv_a_norm',
};

/** Latent attention: the matrices of each head's keys, transposed, and of its values. */
export const latentHeads: TensorRule = ({ name, shape, values }, config) => {
  if (name !== 'self_attn.kv_b_proj') return undefined;
  const heads = config.num_attention_heads as number;
  const [keySize, valueSize] = [config.qk_nope_head_dim, config.v_head_dim] as [number, number];
  const rank = shape[1]!;
  const [keys, ofValues]: [number[], number[]] = [[], []];
  for (let head = 0; head < heads; head++) {
    const first = head * (keySize + valueSize);
    for (let column = 0; column < rank; column++)
      for (let row = first; row < first + keySize; row++) keys.push(values[row * rank + column]!);
    ofValues.push(...values.subarray((first + keySize) * rank, (first + keySize + valueSize) * rank));
  }
  return [
    { name: 'attn_k_b.weight', shape: [heads, rank, keySize], values: Float32Array.from(keys) },
    { name: 'attn_v_b.weight', shape: [heads, valueSize, rank], values: Float32Array.from(ofValues) },
  ];
};

/** Qwen 3.5: heads of values in turns by their heads of keys, and decays as they are multiplied. */
export const deltaNet: TensorRule = ({ name, shape, values }, config) => {
  if (!name.startsWith('linear_attn.')) return undefined;
  const keyHeads = config.linear_num_key_heads as number;
  const valueHeads = config.linear_num_value_heads as number;
  const keyRows = 2 * keyHeads * (config.linear_key_head_dim as number);
  const valueSize = config.linear_value_head_dim as number;
  const width = values.length / shape[0]!;
  const inTurns = (rows: Float32Array, headRows: number, rowWidth: number) =>
    headsInTurns(rows, { keyHeads, valueHeads, size: headRows * rowWidth });
  const one = (to: string, moved: Float32Array, dims = shape) => [{ name: to, shape: dims, values: moved }];
  const behindKeys = () => {
    const moved = values.slice();
    moved.set(inTurns(values.subarray(keyRows * width), valueSize, width), keyRows * width);
    return moved;
  };
  switch (name.slice('linear_attn.'.length)) {
    case 'A_log':
      return one(
        'ssm_a',
        inTurns(values, 1, 1).map(each => -Math.exp(each)),
      );
    case 'dt_bias':
      return one('ssm_dt.bias', inTurns(values, 1, 1));
    case 'conv1d':
      return one('ssm_conv1d.weight', behindKeys(), [shape[0]!, shape[2]!]);
    case 'in_proj_qkv':
      return one('attn_qkv.weight', behindKeys());
    case 'in_proj_z':
      return one('attn_gate.weight', inTurns(values, valueSize, width));
    case 'in_proj_a':
      return one('ssm_alpha.weight', inTurns(values, 1, width));
    case 'in_proj_b':
      return one('ssm_beta.weight', inTurns(values, 1, width));
    case 'norm':
      return one('ssm_norm.weight', values);
    default: {
      // The output projection, by columns.
      const moved = new Float32Array(values.length);
      for (let at = 0; at < values.length; at += width)
        moved.set(inTurns(values.subarray(at, at + width), valueSize, 1), at);
      return one('ssm_out.weight', moved);
    }
  }
};

/** Qwen3-Next: queries, keys and values of all heads, and gates, in place of those of each head of keys. */
export const deltaNetByHeads: TensorRule = ({ name, shape, values }, config) => {
  if (!name.startsWith('linear_attn.')) return undefined;
  const [keyHeads, keySize, valueHeads, valueSize] = [
    'linear_num_key_heads',
    'linear_key_head_dim',
    'linear_num_value_heads',
    'linear_value_head_dim',
  ].map(key => config[key] as number) as [number, number, number, number];
  const one = (to: string, moved = values, dims = shape) => [{ name: to, shape: dims, values: moved }];
  switch (name.slice('linear_attn.'.length)) {
    case 'A_log':
      return one(
        'ssm_a',
        values.map(each => -Math.exp(each)),
      );
    case 'dt_bias':
      return one('ssm_dt.bias');
    case 'conv1d':
      return one('ssm_conv1d.weight', values, [shape[0]!, shape[2]!]);
    case 'in_proj_ba':
      return one('ssm_ba.weight');
    case 'norm':
      return one('ssm_norm.weight');
    case 'out_proj':
      return one('ssm_out.weight');
  }
  const width = shape[1]!;
  const sizes = [keySize, keySize, (valueHeads / keyHeads) * valueSize, (valueHeads / keyHeads) * valueSize];
  const parts: number[][] = [[], [], [], []];
  let at = 0;
  for (let head = 0; head < keyHeads; head++)
    for (const [i, size] of sizes.entries()) {
      for (const value of values.subarray(at, at + size * width)) parts[i]!.push(value);
      at += size * width;
    }
  const matrix = (to: string, all: readonly number[]) => ({
    name: to,
    shape: [all.length / width, width],
    values: Float32Array.from(all),
  });
  const [queries, keys, ofValues, gates] = parts as [number[], number[], number[], number[]];
  return [matrix('attn_qkv.weight', [...queries, ...keys, ...ofValues]), matrix('attn_gate.weight', gates)];
};

/** Heads `k * perKey + i` become `i * keyHeads + k`. */
function headsInTurns(
  values: Float32Array,
  {
    keyHeads,
    valueHeads,
    size,
  }: { readonly keyHeads: number; readonly valueHeads: number; readonly size: number },
): Float32Array {
  const perKey = valueHeads / keyHeads;
  const moved = new Float32Array(values.length);
  for (let head = 0; head < valueHeads; head++) {
    const to = (head % perKey) * keyHeads + Math.floor(head / perKey);
    moved.set(values.subarray(head * size, (head + 1) * size), to * size);
  }
  return moved;
}

/** gpt-oss: experts with inputs first, gates and ups in turns. */
export const clampedExperts: TensorRule = ({ name, shape, values }) => {
  const [, module, bias] = /^mlp\.experts\.(gate_up_proj|down_proj)(_bias)?$/.exec(name) ?? [];
  if (module === undefined) return undefined;
  const [count, inputs, outputs] = (bias === undefined ? shape : [shape[0], 1, shape[1]]) as readonly [
    number,
    number,
    number,
  ];
  const part = (role: string, first: number, step: number): PlainTensor => {
    const rows = outputs / step;
    const taken = new Float32Array(count * rows * inputs);
    for (let i = 0; i < taken.length; i++) {
      const [input, row] = [i % inputs, Math.floor(i / inputs) % rows];
      const expert = Math.floor(i / (inputs * rows));
      taken[i] = values[(expert * inputs + input) * outputs + first + row * step]!;
    }
    return bias === undefined
      ? { name: `ffn_${role}_exps.weight`, shape: [count, rows, inputs], values: taken }
      : { name: `ffn_${role}_exps.bias`, shape: [count, rows], values: taken };
  };
  return module === 'down_proj' ? [part('down', 0, 1)] : [part('gate', 0, 2), part('up', 1, 2)];
};

/** Granite: gates and ups of the shared expert in one matrix. */
export const sharedGateUp: TensorRule = ({ name, shape, values }) => {
  if (name === 'shared_mlp.output_linear') return [{ name: 'ffn_down_shexp.weight', shape, values }];
  if (name !== 'shared_mlp.input_linear') return undefined;
  const half = [shape[0]! / 2, shape[1]!];
  const middle = values.length / 2;
  return [
    { name: 'ffn_gate_shexp.weight', shape: half, values: values.subarray(0, middle) },
    { name: 'ffn_up_shexp.weight', shape: half, values: values.subarray(middle) },
  ];
};

/** Mutates: the values, as float32 times float32. */
export function scaleFloats(values: Float32Array, factor: number): void {
  for (let i = 0; i < values.length; i++) values[i]! *= Math.fround(factor);
}

/** Mamba-2: decays as they are multiplied, vectors of heads as columns, a row of the norm for each group. */
export const mamba2: TensorRule = ({ name, shape, values }, config) => {
  const part = /^(?:mamba|mixer)\.(.+)$/.exec(name)?.[1];
  const one = (to: string, dims: readonly number[], own = values) => [{ name: to, shape: dims, values: own }];
  switch (part) {
    case 'A_log':
      return one(
        'ssm_a',
        [...shape, 1],
        values.map(each => -Math.exp(each)),
      );
    case 'D':
      return one('ssm_d', [...shape, 1]);
    case 'dt_bias':
      return one('ssm_dt.bias', shape);
    case 'conv1d':
      return one('ssm_conv1d.weight', [shape[0]!, shape[2]!]);
    case 'norm': {
      const groups = (config.mamba_n_groups ?? config.n_groups) as number;
      return one('ssm_norm.weight', [groups, shape[0]! / groups]);
    }
    default:
      return undefined;
  }
};

/** Granite 4 H: its MLP is the expert that all tokens share, which is an ordinary one in models without experts. */
export const graniteHybrid: TensorRule = (tensor, config) => {
  const found = mamba2(tensor, config) ?? sharedGateUp(tensor, config);
  if (config.num_local_experts !== 0) return found;
  return found?.map(each => ({ ...each, name: each.name.replace('_shexp', '') }));
};

/** Falcon-H1: all factors are in the weights. */
export const falconH1: TensorRule = (tensor, config) => {
  const { name, shape, values } = tensor;
  const factor = (key: string) => (config[key] as number | undefined) ?? 1;
  const mlp = (config.mlp_multipliers as readonly number[] | null) ?? [1, 1];
  const inputs = factor('attention_in_multiplier');
  const factors: Readonly<Record<string, readonly number[]>> = {
    'feed_forward.down_proj': [mlp[1]!],
    'feed_forward.gate_proj': [mlp[0]!],
    'self_attn.k_proj': [factor('key_multiplier'), inputs],
    'self_attn.q_proj': [inputs],
    'self_attn.v_proj': [inputs],
    'self_attn.o_proj': [factor('attention_out_multiplier')],
    'mamba.out_proj': [factor('ssm_out_multiplier')],
    'mamba.in_proj': [factor('ssm_in_multiplier')],
  };
  for (const each of factors[name] ?? []) scaleFloats(values, each);
  if (name === 'mamba.in_proj') {
    const size = (config.mamba_n_groups as number) * (config.mamba_d_state as number);
    const headCount = config.mamba_n_heads as number;
    const width = (shape[0]! - headCount - 2 * size) / 2;
    const all = (config.ssm_multipliers as readonly number[] | null) ?? [1, 1, 1, 1, 1];
    let row = 0;
    for (const [part, count] of [width, width, size, size, headCount].entries()) {
      scaleFloats(values.subarray(row * shape[1]!, (row + count) * shape[1]!), all[part]!);
      row += count;
    }
  }
  return mamba2(tensor, config);
};
