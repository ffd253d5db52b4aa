// PagedAttention with norms of queries and keys, over the one sequence of the trial, as ONNX Runtime documents it, in float64; and what
// kernels that get it wrong would compute.
// Source: the operator's schema (com.microsoft.PagedAttention: q_norm_weight, k_norm_weight, qk_norm_epsilon)

import {
  TRIAL_EPSILON,
  TRIAL_HEADS,
  TRIAL_TOKENS,
  type TrialData,
} from '../src/core/runners/paged/head-norm-trial.ts';

/** `right`, or the mistake of a kernel. */
export type NormKernel =
  | 'right'
  | 'norm after the rotation'
  | 'default epsilon'
  | 'no norm'
  | 'weights exchanged'
  | 'norm over all heads';

/** Shape: `[TRIAL_TOKENS, heads * headSize]`. */
export function plainHeadNormAttention(data: TrialData, kernel: NormKernel = 'right'): Float64Array {
  const { headSize, value } = data;
  const query = headsOf(data, 'query', kernel);
  const key = headsOf(data, 'key', kernel);
  const output = new Float64Array(query.length);
  const shared = TRIAL_HEADS.query / TRIAL_HEADS.key;
  for (let token = 0; token < TRIAL_TOKENS; token++)
    for (let head = 0; head < TRIAL_HEADS.query; head++) {
      const at = (token * TRIAL_HEADS.query + head) * headSize;
      const from = (past: number) => (past * TRIAL_HEADS.key + Math.floor(head / shared)) * headSize;
      const weights = Array.from({ length: token + 1 }, (_, past) => {
        let score = 0;
        for (let i = 0; i < headSize; i++) score += query[at + i]! * key[from(past) + i]!;
        return Math.exp(score / Math.sqrt(headSize));
      });
      const sum = weights.reduce((total, weight) => total + weight, 0);
      for (const [past, weight] of weights.entries())
        for (let i = 0; i < headSize; i++) output[at + i]! += (weight / sum) * value[from(past) + i]!;
    }
  return output;
}

/** Queries or keys, normed and rotated. */
function headsOf(data: TrialData, name: 'query' | 'key', kernel: NormKernel): Float64Array {
  const { headSize, queryWeight, keyWeight } = data;
  const { [name]: given } = data;
  const takesQuery = (name === 'query') !== (kernel === 'weights exchanged');
  const weight = takesQuery ? queryWeight : keyWeight;
  const epsilon = kernel === 'default epsilon' ? 1e-6 : TRIAL_EPSILON;
  const length = kernel === 'norm over all heads' ? TRIAL_HEADS[name] * headSize : headSize;
  const scale = (values: Float64Array) =>
    kernel === 'no norm' ? values : norm(values, weight, { epsilon, length });
  return kernel === 'norm after the rotation'
    ? scale(rotate(given, data, TRIAL_HEADS[name]))
    : rotate(scale(given), data, TRIAL_HEADS[name]);
}

function norm(
  values: Float64Array,
  weight: Float64Array,
  { epsilon, length }: { readonly epsilon: number; readonly length: number },
): Float64Array {
  return values.map((value, i) => {
    const start = i - (i % length);
    const squares = values.subarray(start, start + length).reduce((sum, each) => sum + each ** 2, 0);
    return (value / Math.sqrt(squares / length + epsilon)) * weight[i % weight.length]!;
  });
}

/** The first half of a head with the second. */
function rotate(values: Float64Array, { headSize, cosine, sine }: TrialData, heads: number): Float64Array {
  const half = headSize / 2;
  return values.map((value, i) => {
    const position = Math.floor(i / (heads * headSize));
    const within = i % headSize;
    const pair = position * half + (within % half);
    const [other, sign] = within < half ? [values[i + half]!, -1] : [values[i - half]!, 1];
    return value * cosine[pair]! + sign * other * sine[pair]!;
  });
}
