// A trial of PagedAttention with norms of queries and keys inside: one sequence through it, and through the same attention with norms as
// operators of their own. Caller: `choose-graph.ts`.

import { encodeGraph, type GraphConstant, type GraphDescription, MICROSOFT } from '@ortler/onnx';
import { MIN_BLOCK_LENGTH, pastName, presentName } from '../../../graph-contract/index.ts';

/** Heads of queries share one of keys, as in most models. */
export const TRIAL_HEADS = { query: 2, key: 1 } as const;

export const TRIAL_TOKENS = 8;

/** As large as the mean square of what is normed, so that a kernel with another epsilon is far off. */
export const TRIAL_EPSILON = 0.01;

/** Inputs on the device, updated in place. Shape: `TrialData.cacheShape`. */
export const TRIAL_CACHES = [
  [pastName(0, 'key'), presentName(0, 'key')],
  [pastName(0, 'value'), presentName(0, 'value')],
] as const;

/** What goes into the trial. All numbers are exact in float16. */
export interface TrialData {
  readonly headSize: number;
  /** Shape: `[TRIAL_TOKENS, heads * headSize]`. Heads differ in size, so that a norm over all of them is far off. */
  readonly query: Float64Array;
  readonly key: Float64Array;
  readonly value: Float64Array;
  /** Shape: `[headSize]`, and different in every element, so that a norm after the rotation is far off. */
  readonly queryWeight: Float64Array;
  readonly keyWeight: Float64Array;
  /** Shape: `[TRIAL_TOKENS, headSize / 2]`. */
  readonly cosine: Float64Array;
  readonly sine: Float64Array;
  readonly cacheShape: readonly [number, number, number, number];
}

export function trialData(headSize: number): TrialData {
  let seed = 0;
  const random = (length: number, min: number, max: number): Float64Array => {
    const start = 2 ** 20 * seed++;
    return halves(Array.from({ length }, (_, i) => min + (max - min) * scatter(start + i)));
  };
  const { query, key } = TRIAL_HEADS;
  const angles = Array.from({ length: (TRIAL_TOKENS * headSize) / 2 }, (_, i) => {
    const [position, pair] = [Math.floor(i / (headSize / 2)), i % (headSize / 2)];
    return position * 100 ** (-2 * (pair / headSize));
  });
  return {
    headSize,
    query: random(TRIAL_TOKENS * query * headSize, -0.2, 0.2).map((each, i) =>
      Math.floor(i / headSize) % query === 0 ? each : each / 4,
    ),
    key: random(TRIAL_TOKENS * key * headSize, -0.2, 0.2),
    value: random(TRIAL_TOKENS * key * headSize, -1, 1),
    queryWeight: random(headSize, 1, 3),
    keyWeight: random(headSize, 0.5, 1.5),
    cosine: halves(angles.map(Math.cos)),
    sine: halves(angles.map(Math.sin)),
    cacheShape: [1, MIN_BLOCK_LENGTH, key, headSize],
  };
}

/** Where the norms of queries and keys are computed: inputs of the attention, or operators of their own before it. */
export type NormPlace = 'inside' | 'apart';

/**
 * One layer's attention. Inputs: `query`, `key` and `value` in float16, and `TRIAL_CACHES`. Outputs: `output` of the shape of `query`,
 * and the caches.
 */
export function trialGraph(data: TrialData, norms: NormPlace): Uint8Array {
  const { headSize, queryWeight, keyWeight, cosine, sine, cacheShape } = data;
  const { query, key } = TRIAL_HEADS;
  const rows = { query: [TRIAL_TOKENS, query * headSize], key: [TRIAL_TOKENS, key * headSize] };
  const table = [TRIAL_TOKENS, headSize / 2];
  const bounds = [TRIAL_TOKENS, TRIAL_TOKENS, TRIAL_TOKENS];
  const float16 = (name: string, shape: readonly number[]) => ({ name, type: 'float16', shape }) as const;
  return encodeGraph({
    name: 'head-norm-trial',
    inputs: [
      float16('query', rows.query),
      float16('key', rows.key),
      float16('value', rows.key),
      ...TRIAL_CACHES.map(([past]) => float16(past, cacheShape)),
    ],
    outputs: [
      float16('output', rows.query),
      ...TRIAL_CACHES.map(([, present]) => float16(present, cacheShape)),
    ],
    constants: [
      halfConstant('query_norm', [headSize], queryWeight),
      halfConstant('key_norm', [headSize], keyWeight),
      halfConstant('cosine', table, cosine),
      halfConstant('sine', table, sine),
      intConstant('lengths', [0, TRIAL_TOKENS]),
      intConstant('past_lengths', [0]),
      intConstant('block_table', [0], [1, 1]),
      intConstant('bounds', bounds),
      shapeConstant('query_apart', [TRIAL_TOKENS, query, headSize]),
      shapeConstant('key_apart', [TRIAL_TOKENS, key, headSize]),
      shapeConstant('query_joined', rows.query),
      shapeConstant('key_joined', rows.key),
    ],
    nodes:
      norms === 'inside'
        ? [attention(['query', 'key'], norms)]
        : [...headNorm('query'), ...headNorm('key'), attention(['query_normed', 'key_normed'], norms)],
  });
}

type Nodes = GraphDescription['nodes'];

function attention([query, key]: readonly [string, string], norms: NormPlace): Nodes[number] {
  return {
    opType: 'PagedAttention',
    domain: MICROSOFT,
    inputs: [
      ...[query, key, 'value', ...TRIAL_CACHES.map(([past]) => past)],
      ...['lengths', 'past_lengths', 'block_table', 'cosine', 'sine'],
      // Slots and sinks; after the norms, scales.
      ...['', '', ...(norms === 'inside' ? ['query_norm', 'key_norm'] : ['', '']), '', '', 'bounds'],
    ],
    outputs: ['output', ...TRIAL_CACHES.map(([, present]) => present)],
    integers: { num_heads: TRIAL_HEADS.query, kv_num_heads: TRIAL_HEADS.key, do_rotary: 1 },
    ...(norms === 'inside' ? { floats: { qk_norm_epsilon: TRIAL_EPSILON } } : {}),
  };
}

function headNorm(name: 'query' | 'key'): Nodes {
  return [
    { opType: 'Reshape', inputs: [name, `${name}_apart`], outputs: [`${name}_heads`] },
    {
      opType: 'SimplifiedLayerNormalization',
      inputs: [`${name}_heads`, `${name}_norm`],
      outputs: [`${name}_scaled`],
      integers: { axis: -1, stash_type: 1 },
      floats: { epsilon: TRIAL_EPSILON },
    },
    { opType: 'Reshape', inputs: [`${name}_scaled`, `${name}_joined`], outputs: [`${name}_normed`] },
  ];
}

/** A number from 0 to 1 that looks random. Source: the integer hash lowbias32. */
function scatter(index: number): number {
  let bits = index + 1;
  bits = Math.imul(bits ^ (bits >>> 16), 0x7feb352d);
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}

/** Bits of numbers that are exact in float16. */
export function halfBits(values: Float64Array): Uint16Array {
  return new Uint16Array(Float16Array.from(values).buffer);
}

/** The nearest numbers of float16. */
function halves(values: readonly number[]): Float64Array {
  return Float64Array.from(Float16Array.from(values));
}

function halfConstant(name: string, shape: readonly number[], values: Float64Array): GraphConstant {
  return { name, type: 'float16', shape, content: new Uint8Array(halfBits(values).buffer) };
}

function intConstant(name: string, values: readonly number[], shape = [values.length]): GraphConstant {
  return { name, type: 'int32', shape, content: new Uint8Array(Int32Array.from(values).buffer) };
}

function shapeConstant(name: string, values: readonly number[]): GraphConstant {
  const content = new Uint8Array(BigInt64Array.from(values, BigInt).buffer);
  return { name, type: 'int64', shape: [values.length], content };
}
