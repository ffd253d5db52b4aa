// Graphs that products and attention refuse when a session is made, and calls that they refuse before anything is computed.

import { matrixBytes } from '@ortler/kernels';
import { type AttributeValue, float, int, ints } from '@ortler/onnx';
import { describe, expect, it } from 'vitest';
import { rowLength } from './attention-cache.ts';
import {
  AttentionSession,
  type AttentionShape,
  attentionGraph,
  garbageCaches,
  PLAIN,
  qkvWidth,
  randomConstants,
} from './attention-operator.ts';
import { INSTRUCTION_SETS } from './instruction-sets.ts';
import { type CallValues, floatConstant, type OperatorGraph, OperatorSession } from './operator-session.ts';
import { type ProductShape, ProductWeights, plainProduct } from './product-operator.ts';

const OPTIONS = { isa: INSTRUCTION_SETS[0]! };

/** The graph with another input at `index`, and other attributes. */
function change(
  graph: OperatorGraph,
  inputs: Readonly<Record<number, OperatorGraph['inputs'][number]>>,
  attributes: Readonly<Record<string, AttributeValue>> = {},
): OperatorGraph {
  return {
    ...graph,
    inputs: graph.inputs.map((input, index) => (index in inputs ? inputs[index]! : input)),
    attributes: { ...graph.attributes, ...attributes },
  };
}

const floats = (name: string, ...shape: number[]) =>
  floatConstant(name, shape, new Float32Array(shape.reduce((product, dim) => product * dim, 1)));

describe('a Product', () => {
  const [NORM, BIAS] = [4, 5];
  const graphOf = (difference: Partial<ProductShape> = {}): OperatorGraph =>
    new ProductWeights({ ...plainProduct('q4', 20, 40), ...difference }).graph;
  const bytes = (length: number) =>
    ({ name: 'w0', type: 'uint8', shape: [length], content: new Uint8Array(length) }) as const;
  const size = matrixBytes('q4', 20, 40);

  it.each<readonly [string, OperatorGraph, RegExp]>([
    ['no inputs', change(graphOf(), {}, { inputs: int(0) }), /inputs must be 1 to 2\^24/],
    [
      'no matrix',
      change(graphOf(), {}, { outputs: ints([]) }),
      /outputs and formats must have 1 to 3 entries/,
    ],
    ['four matrices', change(graphOf(), {}, { outputs: ints([1, 1, 1, 1]) }), /must have 1 to 3 entries/],
    ['a format too many', change(graphOf(), {}, { formats: ints([1, 1]) }), /equally many/],
    ['an unknown format', change(graphOf(), {}, { formats: ints([10]) }), /unknown format/],
    ['a negative format', change(graphOf(), {}, { formats: ints([-1]) }), /unknown format/],
    ['no outputs', change(graphOf(), {}, { outputs: ints([0]) }), /outputs must be 1 to 2\^24/],
    ['an unknown activation', change(graphOf(), {}, { activation: int(3) }), /unknown activation/],
    [
      'activations of 12 bits',
      change(graphOf(), {}, { activation_bits: int(12) }),
      /activation_bits must be 8 or 16/,
    ],
    [
      'an odd gated matrix',
      change(graphOf(), {}, { outputs: ints([21]), gated: int(1) }),
      /even where it is gated/,
    ],
    [
      'two gated matrices',
      change(
        graphOf({
          parts: [
            { format: 'q4', outputs: 2 },
            { format: 'q4', outputs: 2 },
          ],
        }),
        {},
        { gated: int(1) },
      ),
      /a gated product has one matrix/,
    ],
    [
      'float32 and quantised matrices',
      graphOf({
        parts: [
          { format: 'f32', outputs: 2 },
          { format: 'q4', outputs: 2 },
        ],
      }),
      /float32 matrices do not mix/,
    ],
    ['a byte too few', change(graphOf(), { 1: bytes(size - 1) }), /weights must be a constant of the size/],
    [
      'a tile too many',
      change(graphOf(), { 1: bytes(size + size / 2) }),
      /weights must be a constant of the size/,
    ],
    [
      'a shape of five',
      change(graphOf(), { 1: { ...bytes(size), shape: [1, 1, 1, 1, size] } }),
      /weights must be/,
    ],
    [
      'weights that vary',
      change(graphOf(), { 1: { name: 'w0', type: 'uint8', shape: [1] } }),
      /must be a constant/,
    ],
    [
      'a norm of another length',
      change(graphOf(), { [NORM]: floats('norm', 41) }),
      /norm must have an entry/,
    ],
    [
      'a bias of another length',
      change(graphOf(), { [BIAS]: floats('bias', 40) }),
      /bias must have an entry/,
    ],
    [
      'a bias of half a gated product',
      change(graphOf({ isGated: true }), { [BIAS]: floats('bias', 20) }),
      /bias must have an entry/,
    ],
    [
      'a norm that varies',
      change(graphOf(), { [NORM]: { name: 'norm', type: 'float32', shape: [40] } }),
      /norm and bias must be constants/,
    ],
    [
      'a bias that varies',
      change(graphOf(), { [BIAS]: { name: 'bias', type: 'float32', shape: [20] } }),
      /norm and bias must be constants/,
    ],
  ])('with %s is refused', async (_case, graph, message) => {
    await expect(OperatorSession.create(graph, OPTIONS)).rejects.toThrow(message);
  });

  const call = (rows: number, inputs: number, residualRows?: number): CallValues => {
    const zeros = (...shape: number[]) =>
      ({ type: 'float32', shape, data: new Float32Array(shape[0]! * shape[1]!) }) as const;
    const residual = residualRows === undefined ? {} : { residual: zeros(residualRows, 20) };
    return { x: zeros(rows, inputs), ...residual };
  };

  it.each<readonly [string, Partial<ProductShape>, CallValues, RegExp]>([
    ['rows of another length', {}, call(2, 39), /the last dimension of x must be its inputs/],
    ['a residual of other rows', { hasResidual: true }, call(2, 40, 3), /residual must have the shape/],
  ])('refuses %s', async (_case, difference, inputs, message) => {
    using session = await OperatorSession.create(graphOf(difference), OPTIONS);
    const y = { type: 'float32', shape: [2, 20], data: new Float32Array(40) } as const;
    await expect(session.run(inputs, { y })).rejects.toThrow(message);
  });
});

describe('an Attention', () => {
  const [COSINES, SINES, QUERY_NORM, KEY_NORM, SINKS] = [4, 5, 6, 7, 8];
  const graphOf = (difference: Partial<AttentionShape> = {}): OperatorGraph => {
    const shape = { ...PLAIN, ...difference };
    return attentionGraph(shape, randomConstants(shape));
  };

  it.each<readonly [string, OperatorGraph, RegExp]>([
    [
      'heads that no key head divides',
      graphOf({ heads: 3, kvHeads: 2 }),
      /heads must be a multiple of kv_heads/,
    ],
    ['no heads', graphOf({ heads: 0 }), /heads must be a multiple of kv_heads/],
    ['no head size', graphOf({ headSize: 0, rotary: 0 }), /head_size must be 1 to 640/],
    ['heads too large', graphOf({ headSize: 641 }), /head_size must be 1 to 640/],
    ['a negative window', graphOf({ window: -1 }), /window must not be negative/],
    ['a negative soft cap', change(graphOf(), {}, { softcap: float(-1) }), /softcap must not be negative/],
    ['cosines alone', change(graphOf(), { [SINES]: null }), /cosines and sines go together/],
    ['more rotated channels than a head has', graphOf({ rotary: 66 }), /half of the rotated channels/],
    [
      'a table of one dimension',
      change(graphOf(), { [COSINES]: floats('cosines', 64) }),
      /half of the rotated channels/,
    ],
    [
      'tables of different lengths',
      change(graphOf(), { [SINES]: floats('sines', 63, 32) }),
      /half of the rotated/,
    ],
    [
      'a norm of another length',
      change(graphOf(), { [QUERY_NORM]: floats('query_norm', 63) }),
      /norms must have head_size/,
    ],
    [
      'a sink too few',
      change(graphOf(), { [SINKS]: floats('sinks', 1) }),
      /sinks must have an entry for each head/,
    ],
    [
      'a norm of keys that it only reads',
      change(graphOf({ readsOnly: true }), { [KEY_NORM]: floats('key_norm', 64) }),
      /with reads_only there are no keys to normalise/,
    ],
    [
      'sinks that vary',
      change(graphOf(), { [SINKS]: { name: 'sinks', type: 'float32', shape: [2] } }),
      /rotary tables, norms and sinks must be constants/,
    ],
  ])('with %s is refused', async (_case, graph, message) => {
    await expect(OperatorSession.create(graph, OPTIONS)).rejects.toThrow(message);
  });

  interface Call {
    readonly qkv?: readonly number[];
    readonly keys?: readonly number[];
    readonly values?: readonly number[];
    readonly last?: readonly number[];
    readonly present?: 'same' | 'other';
  }

  const run = async (shape: AttentionShape, graph: OperatorGraph, call: Call): Promise<void> => {
    const { heads, headSize, kvHeads, capacity } = shape;
    const cache = [2, kvHeads, capacity, rowLength(shape)];
    const zeros = (dims: readonly number[]) =>
      ({ type: 'float32', shape: dims, data: new Float32Array(dims.reduce((a, b) => a * b, 1)) }) as const;
    const last = call.last ?? [3, 7];
    const qkv = zeros(call.qkv ?? [2, 3, qkvWidth(shape)]);
    const [keys, values] = [zeros(call.keys ?? cache), zeros(call.values ?? cache)];
    using session = await OperatorSession.create(graph, OPTIONS);
    await session.run(
      {
        qkv,
        past_keys: keys,
        past_values: values,
        last: { type: 'int32', shape: [last.length], data: Int32Array.from(last) },
      },
      {
        y: zeros([2, 3, heads * headSize]),
        ...(shape.readsOnly ? {} : { keys: call.present === 'other' ? zeros(keys.shape) : keys, values }),
      },
    );
  };

  const row = rowLength(PLAIN);
  const width = qkvWidth(PLAIN);

  it('takes the call that the wrong ones differ from', async () => {
    await expect(run(PLAIN, graphOf(), {})).resolves.toBeUndefined();
  });

  it.each<readonly [string, Call, RegExp]>([
    ['queries of another width', { qkv: [2, 3, width - 1] }, /qkv must be \[batch, length, /],
    ['a cache of another batch', { keys: [1, 1, 64, row] }, /past keys must be/],
    ['a cache of other heads', { keys: [2, 2, 64, row] }, /past keys must be/],
    ['a capacity of no whole groups', { keys: [2, 1, 56, row] }, /a capacity of whole groups of 16/],
    ['rows of another length', { keys: [2, 1, 64, row + 1] }, /past keys must be/],
    [
      'values of another capacity',
      { values: [2, 1, 48, row] },
      /past values must have the shape of the keys/,
    ],
    ['a position too few', { last: [3] }, /last must have an entry for each sequence/],
    [
      'a position behind the cache',
      { last: [3, 64] },
      /a position lies outside the cache or the rotary tables/,
    ],
    ['a first position before 0', { last: [1, 7] }, /a position lies outside/],
    ['a negative position', { last: [-1, 7] }, /a position lies outside/],
    ['the least position there is', { last: [-(2 ** 31), 7] }, /a position lies outside/],
    [
      'another memory for present keys',
      { present: 'other' },
      /past and present caches must be the same memory/,
    ],
  ])('refuses %s', async (_case, call, message) => {
    await expect(run(PLAIN, graphOf(), call)).rejects.toThrow(message);
  });

  it('refuses queries of two dimensions', async () => {
    const graph = change(graphOf(), { 0: { name: 'qkv', type: 'float32', shape: [0, 0] } });
    await expect(run(PLAIN, graph, { qkv: [6, width] })).rejects.toThrow(/qkv must be \[batch, length, /);
  });

  it.each<readonly [string, Partial<AttentionShape>]>([
    ['without a window', { capacity: 256 }],
    ['of no whole pieces', { capacity: 272, window: 16 }],
    ['that does not hold the window and the tokens of the call', { capacity: 256, window: 255 }],
  ])('refuses to go round a cache %s', async (_case, difference) => {
    const shape = { ...PLAIN, ...difference, positions: 1024 };
    await expect(run(shape, graphOf(shape), { last: [3, shape.capacity] })).rejects.toThrow(
      /a position lies outside the cache or the rotary tables/,
    );
  });

  it('goes round a cache that holds the window and the tokens of the call', async () => {
    const shape = { ...PLAIN, capacity: 256, window: 254, positions: 1024 };
    await expect(run(shape, graphOf(shape), { last: [3, 1023] })).resolves.toBeUndefined();
    await expect(run(shape, graphOf(shape), { last: [3, 1024] })).rejects.toThrow(/a position lies outside/);
  });

  it('refuses keys in front of a cache that it only reads', async () => {
    const shape = { ...PLAIN, readsOnly: true };
    const qkv = [2, 3, qkvWidth(PLAIN)];
    await expect(run(shape, graphOf(shape), { qkv })).rejects.toThrow(/with reads_only heads \* head_size/);
  });

  it('refuses a cache of values beside keys that are the values', async () => {
    const shape = { ...PLAIN, keysOnly: true };
    using session = await AttentionSession.create(shape, OPTIONS);
    const calling = session.run(new Float32Array(qkvWidth(shape)), [0], garbageCaches(PLAIN, 1));
    await expect(calling).rejects.toThrow(/past and present caches must be the same memory/);
  });

  it('refuses positions beyond its rotary tables', async () => {
    const graph = change(graphOf(), { [COSINES]: floats('cosines', 7, 32), [SINES]: floats('sines', 7, 32) });
    await expect(run(PLAIN, graph, {})).rejects.toThrow(
      /a position lies outside the cache or the rotary tables/,
    );
    await expect(run(PLAIN, graph, { last: [3, 6] })).resolves.toBeUndefined();
  });
});
