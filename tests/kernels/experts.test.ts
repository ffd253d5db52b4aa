// Mixtures of experts against float64, and their promises about bits: a row is the same in any company, with any number of threads and
// on any instruction set. `packages/kernels/c-test` compares them with products in random shapes.

import { WEIGHT_FORMATS, type WeightFormat } from '@ortler/kernels';
import { type AttributeValue, float, int, ints } from '@ortler/onnx';
import { describe, expect, it } from 'vitest';
import { ExpertsSession, type ExpertsShape, ExpertsWeights, PLAIN_EXPERTS } from './experts-operator.ts';
import { INSTRUCTION_SETS } from './instruction-sets.ts';
import { floatConstant, type OperatorGraph, OperatorSession } from './operator-session.ts';

const FORMATS = Object.keys(WEIGHT_FORMATS) as WeightFormat[];

const largestDifference = (a: Float32Array, b: Float64Array) =>
  a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0);

const largest = (values: Float64Array) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);

describe.each(INSTRUCTION_SETS)('Experts on %s', isa => {
  it.each<Partial<ExpertsShape>>([
    {},
    { isNormalised: false },
    { scoring: 'sigmoid', hasSelectionBias: true },
    { scoring: 'sigmoid', isNormalised: false },
    { hasSelectionBias: true },
    { hasSelectionBias: true, isNormalised: false },
    { activation: 'clamped' },
    { activation: 'relu2', isGated: false },
    { activation: 'silu', isGated: false, count: 2, chosen: 1 },
    { chosen: 9 },
    { count: 1, chosen: 1 },
    { count: 12, groups: { count: 4, chosen: 2, keyCount: 1 } },
    { count: 12, groups: { count: 3, chosen: 1, keyCount: 1 }, hasSelectionBias: true },
    { count: 12, groups: { count: 4, chosen: 2, keyCount: 2 }, scoring: 'sigmoid', hasSelectionBias: true },
    { count: 12, groups: { count: 4, chosen: 2, keyCount: 2 }, scoring: 'sigmoid' },
    { count: 12, groups: { count: 4, chosen: 4, keyCount: 2 }, scoring: 'sigmoid' },
  ])('gives the weighted sum of the chosen experts with %o', async difference => {
    const weights = new ExpertsWeights({ ...PLAIN_EXPERTS, formats: ['f32', 'f32'], ...difference });
    const rows = weights.randomRows(20);
    const expected = weights.expected(rows);
    using session = await ExpertsSession.create(weights, { isa });
    expect(largestDifference(await session.run(rows), expected)).toBeLessThan(1e-5 * largest(expected));
  });

  it.each(FORMATS)(
    'with weights in %s is near their values, and a row has the same bits alone',
    async format => {
      const weights = new ExpertsWeights({ ...PLAIN_EXPERTS, formats: [format, format], activationBits: 16 });
      const rows = weights.randomRows(21);
      const expected = weights.expected(rows);
      using session = await ExpertsSession.create(weights, { isa });
      const together = await session.run(rows);
      expect(largestDifference(together, expected)).toBeLessThan(1e-3 * largest(expected));
      for (let row = 0; row < 21; row++)
        expect(await session.run(rows, row, row + 1)).toEqual(together.subarray(row * 100, (row + 1) * 100));
    },
  );

  it('has the same bits with 1, 2 and 3 threads', async () => {
    // Large enough that threads share routing, panels, tiles and sums.
    const weights = new ExpertsWeights({ ...PLAIN_EXPERTS, inputs: 520, inner: 260, count: 16, chosen: 4 });
    const rows = weights.randomRows(40);
    const results = [];
    for (const threadCount of [1, 2, 3]) {
      using session = await ExpertsSession.create(weights, { isa, threadCount });
      results.push(await session.run(rows));
    }
    expect(results[1]).toEqual(results[0]);
    expect(results[2]).toEqual(results[0]);
  });

  it('a NaN in the logits or inputs of a row shows in that row only', async () => {
    const weights = new ExpertsWeights(PLAIN_EXPERTS);
    const rows = weights.randomRows(5);
    using session = await ExpertsSession.create(weights, { isa });
    const before = await session.run(rows);
    for (const name of ['x', 'logits'] as const) {
      const spoilt = { ...rows, [name]: rows[name].slice() };
      const width = spoilt[name].length / 5;
      spoilt[name].fill(Number.NaN, 2 * width, 3 * width);
      const after = await session.run(spoilt);
      expect(after.subarray(200, 300).every(Number.isNaN)).toBe(true);
      expect(after.subarray(0, 200)).toEqual(before.subarray(0, 200));
      expect(after.subarray(300)).toEqual(before.subarray(300));
    }
  });
});

it('Experts have the same bits on all instruction sets', async () => {
  const weights = new ExpertsWeights({
    ...PLAIN_EXPERTS,
    formats: ['q4-k', 'q6-k'],
    inputs: 300,
    inner: 270,
  });
  const rows = weights.randomRows(11);
  const results = [];
  for (const isa of INSTRUCTION_SETS) {
    using session = await ExpertsSession.create(weights, { isa });
    results.push(await session.run(rows));
  }
  for (const result of results) expect(result).toEqual(results[0]);
});

describe('Experts are refused', () => {
  const { graph } = new ExpertsWeights(PLAIN_EXPERTS);
  const create = (changed: OperatorGraph) => OperatorSession.create(changed, { isa: INSTRUCTION_SETS[0]! });

  it.each<readonly [Record<string, AttributeValue>, RegExp]>([
    [{ inputs: int(0) }, /inputs and inner must be/],
    [{ experts: int(1025) }, /1 to 1024 experts/],
    [{ chosen: int(10) }, /1 to 1024 experts/],
    [{ formats: ints([1]) }, /two entries each/],
    [{ formats: ints([1, 10]) }, /unknown format/],
    [{ formats: ints([1, 1]) }, /weights must be constants of the sizes/],
    [{ activation_bits: ints([8, 12]) }, /activation_bits must be 8 or 16/],
    [{ activation: int(5) }, /unknown activation or scoring/],
    [{ gated: int(0) }, /weights must be constants of the sizes/],
    [{ scoring: int(2) }, /unknown activation or scoring/],
    [{ activation: int(3), limit: float(0) }, /limit must be above 0/],
    [{ activation: int(3), gated: int(0) }, /experts have gates/],
    [{ groups: int(-1) }, /up to 64 groups of equal sizes/],
    [{ groups: int(2) }, /up to 64 groups of equal sizes/],
    [{ groups: int(3), chosen_groups: int(4) }, /up to 64 groups of equal sizes/],
    [{ groups: int(3), group_keys: int(3) }, /by 1 or 2 keys/],
    [{ groups: int(9), chosen_groups: int(2) }, /the chosen groups must have as many experts/],
  ])('with attributes %o', async (attributes, message) => {
    await expect(create({ ...graph, attributes: { ...graph.attributes, ...attributes } })).rejects.toThrow(
      message,
    );
  });

  it.each([
    [4, 'norm', /norm and selection bias must be constants/],
    [5, 'gate_up_bias', /a bias must be a constant with an entry for each output of each expert/],
    [6, 'down_bias', /a bias must be a constant/],
    [7, 'selection', /norm and selection bias must be constants/],
  ] as const)('with a constant of another length at input %i, %s', async (index, name, message) => {
    const inputs = graph.inputs.with(index, floatConstant(name, [3], new Float32Array(3)));
    await expect(create({ ...graph, inputs })).rejects.toThrow(message);
  });

  it('in calls whose values do not match', async () => {
    using session = await create(graph);
    const value = (rows: number, width: number) =>
      ({ type: 'float32', shape: [rows, width], data: new Float32Array(rows * width) }) as const;
    const y = value(2, 100);
    const call = (x: ReturnType<typeof value>, logits: ReturnType<typeof value>, residual = value(2, 100)) =>
      session.run({ x, logits, residual }, { y });
    await expect(call(value(2, 99), value(2, 9))).rejects.toThrow(
      /the last dimension of x must be its inputs/,
    );
    await expect(call(value(2, 100), value(2, 8))).rejects.toThrow(/a number for each row and expert/);
    await expect(call(value(2, 100), value(2, 9), value(1, 100))).rejects.toThrow(
      /residual must have the shape of x/,
    );
  });
});
