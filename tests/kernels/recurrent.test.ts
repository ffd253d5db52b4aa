// Operators of recurrent layers against float64, and their promises about bits: chunks, rows of a batch, threads, instruction sets
// and states that are kept on the way change nothing.

import { int } from '@ortler/onnx';
import { describe, expect, it } from 'vitest';
import { INSTRUCTION_SETS } from './instruction-sets.ts';
import {
  type ConvolutionShape,
  convolutionOperator,
  type DeltaShape,
  deltaOperator,
  type MambaShape,
  mambaOperator,
  type RecurrentOperator,
  RecurrentSession,
} from './recurrent-operators.ts';

const PLAIN: ConvolutionShape = {
  channels: 80,
  kernel: 4,
  isGated: false,
  hasBias: false,
  spareColumns: 0,
  seed: 1,
};
const DELTA: DeltaShape = { keyHeads: 2, valueHeads: 4, keySize: 32, valueSize: 48, gateStart: 0, seed: 2 };
const MAMBA: MambaShape = {
  heads: 6,
  headSize: 48,
  groups: 2,
  stateSize: 32,
  norm: 'last',
  normGroups: 2,
  leastStep: 0,
  gateStart: 0,
  seed: 3,
};
const TOKEN_COUNT = 70;

const OPERATORS: readonly (readonly [string, (tokenCount?: number) => RecurrentOperator])[] = [
  ['a convolution with SiLU', (count = TOKEN_COUNT) => convolutionOperator(PLAIN, count)],
  [
    'a convolution of a part of its columns',
    (count = TOKEN_COUNT) => convolutionOperator({ ...PLAIN, spareColumns: 33, hasBias: true }, count),
  ],
  [
    'a gated convolution',
    (count = TOKEN_COUNT) => convolutionOperator({ ...PLAIN, kernel: 3, isGated: true }, count),
  ],
  [
    'a gated convolution of eight tokens with biases',
    (count = TOKEN_COUNT) =>
      convolutionOperator({ ...PLAIN, kernel: 8, isGated: true, hasBias: true }, count),
  ],
  [
    'a convolution of two tokens and many channels',
    (count = TOKEN_COUNT) => convolutionOperator({ ...PLAIN, kernel: 2, channels: 1040 }, count),
  ],
  ['gated delta networks', (count = TOKEN_COUNT) => deltaOperator(DELTA, count)],
  [
    'gated delta networks of whole pairs of vectors, the gate behind other columns',
    (count = TOKEN_COUNT) => deltaOperator({ ...DELTA, keySize: 128, valueSize: 128, gateStart: 17 }, count),
  ],
  [
    'gated delta networks of one head, with the largest keys',
    (count = TOKEN_COUNT) =>
      deltaOperator({ ...DELTA, keyHeads: 1, valueHeads: 1, keySize: 256, valueSize: 16 }, count),
  ],
  [
    'gated delta networks of many heads',
    (count = TOKEN_COUNT) => deltaOperator({ ...DELTA, keyHeads: 7, valueHeads: 21, keySize: 16 }, count),
  ],
  [
    'gated delta networks whose heads of values take those of keys in turns',
    (count = TOKEN_COUNT) =>
      deltaOperator({ ...DELTA, keyHeads: 3, valueHeads: 6, keySize: 16, keysInTurns: true }, count),
  ],
  ['Mamba-2 with a norm behind the gate', (count = TOKEN_COUNT) => mambaOperator(MAMBA, count)],
  [
    'Mamba-2 of whole pairs of vectors, a norm in front of the gate, which is behind other columns',
    (count = TOKEN_COUNT) =>
      mambaOperator({ ...MAMBA, headSize: 64, norm: 'first', normGroups: 1, gateStart: 17 }, count),
  ],
  [
    'Mamba-2 of many heads in one group, without a norm, with a least step',
    (count = TOKEN_COUNT) =>
      mambaOperator(
        { ...MAMBA, heads: 37, headSize: 16, groups: 1, norm: 'none', normGroups: 1, leastStep: 0.5 },
        count,
      ),
  ],
  [
    'Mamba-2 of one head, with the largest states',
    (count = TOKEN_COUNT) =>
      mambaOperator({ ...MAMBA, heads: 1, groups: 1, normGroups: 1, stateSize: 256, headSize: 32 }, count),
  ],
];

/** Relative to the largest number of the result. */
const TOLERANCE = 3e-5;

function largestError(found: Float32Array, expected: Float64Array): number {
  expect(found.length).toBe(expected.length);
  const scale = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  let worst = 0;
  for (const [i, value] of expected.entries()) {
    const error = Math.abs(found[i]! - value) / scale;
    if (!(error <= worst)) worst = Number.isNaN(error) ? Number.POSITIVE_INFINITY : error;
  }
  return worst;
}

const chunkWrites = (length: number, entry: number): number[] =>
  Array.from({ length }, (_, t) => (t === length - 1 ? entry : -1));

describe.each(INSTRUCTION_SETS)('recurrent layers on %s', isa => {
  describe.each(OPERATORS)('%s', (_name, create) => {
    const operator = create();

    it('gives what float64 gives, without a state before the first token', async () => {
      using session = await RecurrentSession.create(operator, { isa });
      expect(largestError(await session.runChunks([TOKEN_COUNT]), operator.expected)).toBeLessThan(TOLERANCE);
    });

    it('has the same bits in any chunks, and with any number of threads', async () => {
      using session = await RecurrentSession.create(operator, { isa });
      using single = await RecurrentSession.create(operator, { isa, threadCount: 1 });
      const whole = await session.runChunks([TOKEN_COUNT]);
      expect(await single.runChunks([TOKEN_COUNT])).toEqual(whole);
      for (const chunks of [[1, 2, 3, 64], Array.from({ length: TOKEN_COUNT }, () => 1), [33, 1, 1, 35]])
        expect(await session.runChunks(chunks)).toEqual(whole);
    });

    it('computes rows of a batch, which may share a state, bit for bit as each alone', async () => {
      using session = await RecurrentSession.create(operator, { isa });
      const whole = await session.runChunks([TOKEN_COUNT]);
      const columns = operator.outputColumns;
      await session.run([{ from: 0, to: 40, read: -1, writes: chunkWrites(40, 2) }]);
      await session.run([{ from: 0, to: 20, read: -1, writes: chunkWrites(20, 3) }]);
      const rows = [
        { from: 40, to: 45, read: 2, writes: chunkWrites(5, 4) },
        { from: 0, to: 5, read: -1, writes: chunkWrites(5, -1) },
        { from: 20, to: 25, read: 3, writes: chunkWrites(5, 5) },
        { from: 40, to: 45, read: 2, writes: chunkWrites(5, 6) },
      ];
      const expected = rows.flatMap(({ from, to }) => [...whole.subarray(from * columns, to * columns)]);
      expect(await session.run(rows)).toEqual(Float32Array.from(expected));
      const size = session.stateLength;
      const state = (entry: number) => session.pool.slice(entry * size, (entry + 1) * size);
      expect(state(6)).toEqual(state(4));
    });

    it('keeps the states after tokens on its way, those of the same tokens alone, and changes no other', async () => {
      using session = await RecurrentSession.create(operator, { isa });
      const size = session.stateLength;
      const state = (entry: number) => session.pool.slice(entry * size, (entry + 1) * size);
      for (const [entry, length] of [
        [0, 1],
        [1, 7],
        [2, 10],
      ] as const)
        await session.run([{ from: 0, to: length, read: -1, writes: chunkWrites(length, entry) }]);
      const writes = chunkWrites(10, 5);
      writes[0] = 3;
      writes[6] = 4;
      const before = [0, 1, 2].map(state);
      await session.run([{ from: 0, to: 10, read: -1, writes }]);
      expect([3, 4, 5].map(state)).toEqual(before);
      expect([0, 1, 2].map(state)).toEqual(before);
      expect(state(7).every(Number.isNaN)).toBe(true);
    });

    it.each([
      ['reads an entry outside of the pool', { read: 8, writes: [0] }, /to read lies outside/],
      ['reads a negative entry', { read: -2, writes: [0] }, /to read lies outside/],
      ['writes an entry outside of the pool', { read: 1, writes: [8] }, /to write lies outside/],
      ['writes a negative entry', { read: 1, writes: [-2] }, /to write lies outside/],
      ['reads and writes one entry', { read: 1, writes: [1] }, /read and written/],
    ])('refuses a call that %s', async (_fault, row, message) => {
      using session = await RecurrentSession.create(operator, { isa });
      await expect(session.run([{ from: 0, to: 1, ...row }])).rejects.toThrow(message);
    });

    it('refuses a call that writes an entry twice', async () => {
      using session = await RecurrentSession.create(operator, { isa });
      const rows = [0, 1].map(read => ({ from: 0, to: 2, read, writes: [4 + read, 6] }));
      await expect(session.run(rows)).rejects.toThrow(/written twice/);
    });
  });

  it.each([
    ['channels', 24, /channels must be a multiple of 16/],
    ['kernel', 1, /kernel must be 2 to 8/],
    ['kernel', 9, /kernel must be 2 to 8/],
    ['kernel', 5, /weights must be a constant/],
    ['activation', 2, /activation must be 0 or 1/],
  ])('refuses a convolution whose %s is %i', async (key, value, message) => {
    const { graph, ...rest } = convolutionOperator(PLAIN, 1);
    const changed = { ...graph, attributes: { ...graph.attributes, [key]: int(value) } };
    await expect(RecurrentSession.create({ ...rest, graph: changed }, { isa })).rejects.toThrow(message);
  });

  it.each([
    ['key_heads', 3, /value_heads must be a multiple of key_heads/],
    ['key_size', 24, /key_size, at most 256, and value_size must be multiples of 16/],
    ['key_size', 272, /key_size, at most 256/],
    ['value_size', 40, /value_size must be multiples of 16/],
    ['value_heads', 6, /decay_log and decay_bias must be constants/],
    ['value_size', 64, /norm must be a constant of value_size entries/],
    ['gate_start', -1, /gate_start must not be negative/],
  ])('refuses gated delta networks whose %s is %i', async (key, value, message) => {
    const { graph, ...rest } = deltaOperator(DELTA, 1);
    const changed = { ...graph, attributes: { ...graph.attributes, [key]: int(value) } };
    await expect(RecurrentSession.create({ ...rest, graph: changed }, { isa })).rejects.toThrow(message);
  });

  it.each([
    ['groups', 4, /heads must be a multiple of groups/],
    ['state_size', 24, /state_size, at most 256, and head_size must be multiples of 16/],
    ['state_size', 272, /state_size, at most 256/],
    ['head_size', 40, /head_size must be multiples of 16/],
    ['heads', 12, /decay_log, step_bias and skip must be constants/],
    ['head_size', 64, /norm must be a constant of heads \* head_size entries/],
    ['norm_groups', 4, /heads must be a multiple of norm_groups/],
    ['gate_start', -1, /gate_start must not be negative/],
  ])('refuses Mamba-2 whose %s is %i', async (key, value, message) => {
    const { graph, ...rest } = mambaOperator(MAMBA, 1);
    const changed = { ...graph, attributes: { ...graph.attributes, [key]: int(value) } };
    await expect(RecurrentSession.create({ ...rest, graph: changed }, { isa })).rejects.toThrow(message);
  });
});

it('has the same bits on every instruction set', async () => {
  for (const [, create] of OPERATORS) {
    const results: Float32Array[] = [];
    for (const isa of INSTRUCTION_SETS) {
      using session = await RecurrentSession.create(create(), { isa });
      results.push(await session.runChunks([TOKEN_COUNT]));
    }
    for (const result of results) expect(result).toEqual(results[0]);
  }
});
