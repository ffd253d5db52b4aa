// Products of the kernels against float64 on the same codes, and their promises about bits: a row is the same in any company, with
// any number of threads and on any instruction set.

import { blockBytes, isSuperBlockFormat, WEIGHT_FORMATS, type WeightFormat } from '@ortler/kernels';
import { describe, expect, it } from 'vitest';
import { INSTRUCTION_SETS } from './instruction-sets.ts';
import { ProductSession, type ProductShape, ProductWeights, plainProduct } from './product-operator.ts';
import { worstShare } from './worst-share.ts';

const FORMATS = Object.keys(WEIGHT_FORMATS) as WeightFormat[];
const QUANTISED = FORMATS.filter(format => format !== 'f32');

describe.each(INSTRUCTION_SETS)('Product on %s', isa => {
  const check = async (shape: ProductShape, rowCount = 9): Promise<void> => {
    const weights = new ProductWeights(shape);
    const rows = weights.randomRows(rowCount);
    using session = await ProductSession.create(weights, { isa });
    expect(worstShare(await session.run(rows), weights.expected(rows))).toBeLessThan(1);
  };

  describe.each(FORMATS)('with weights in %s', format => {
    it.each([
      [48, 96],
      [1, 1],
      [40, 50],
      [17, 31],
      [15, 33],
      [200, 576],
    ])('%i outputs of %i inputs are the sums of the codes', (outputs, inputs) =>
      check(plainProduct(format, outputs, inputs), 19),
    );

    it('has the same bits for a row alone and among 2 to 36 rows', async () => {
      const weights = new ProductWeights({ ...plainProduct(format, 70, 200), hasNorm: true });
      const rows = weights.randomRows(36);
      using session = await ProductSession.create(weights, { isa });
      const alone = await Promise.all(
        Array.from({ length: 36 }, (_, row) => row).map(row => session.run(rows, row, row + 1)),
      );
      for (let count = 2; count <= 36; count++) {
        const together = await session.run(rows, 36 - count);
        for (const [index, row] of alone.slice(36 - count).entries())
          expect(together.subarray(index * 70, (index + 1) * 70)).toEqual(row);
      }
    });

    it('with activations of 16 bits adds what 8 bits leave over, and has the same bits for a row alone', async () => {
      const weights = new ProductWeights({
        ...plainProduct(format, 70, 200),
        hasNorm: true,
        activationBits: 16,
      });
      const rows = weights.randomRows(19);
      using session = await ProductSession.create(weights, { isa });
      const together = await session.run(rows);
      expect(worstShare(together, weights.expected(rows))).toBeLessThan(1);
      for (let row = 0; row < 19; row++)
        expect(await session.run(rows, row, row + 1)).toEqual(together.subarray(row * 70, (row + 1) * 70));
    });

    it('has the same bits with 1, 2 and 3 threads', async () => {
      // Large enough that threads share the filling of panels and the tiles.
      const weights = new ProductWeights({ ...plainProduct(format, 520, 2050), hasNorm: true });
      const rows = weights.randomRows(20);
      const results = [];
      for (const threadCount of [1, 2, 3]) {
        using session = await ProductSession.create(weights, { isa, threadCount });
        results.push(await session.run(rows));
      }
      expect(results[1]).toEqual(results[0]);
      expect(results[2]).toEqual(results[0]);
    });

    it.each(['none', 'silu', 'gelu'] as const)('fuses norm, bias, gate with %s, and residual', activation =>
      check({
        inputs: 100,
        parts: [{ format, outputs: 45 }],
        isGated: true,
        activation,
        hasNorm: true,
        hasBias: true,
        hasResidual: true,
        activationBits: 8,
        seed: 2,
      }),
    );
  });

  it.each(['silu', 'gelu'] as const)('applies %s without a gate', activation =>
    check({ ...plainProduct('q8', 33, 64), activation, hasBias: true, hasResidual: true }),
  );

  it.each([
    ['two', ['q4-min', 'q8']],
    ['three', ['q5', 'q6', 'q4']],
    ['three in super-blocks', ['q4-k', 'q5-k', 'q6-k']],
    ['three float32', ['f32', 'f32', 'f32']],
  ] as const)('puts the columns of %s matrices side by side', (_count, formats) =>
    check({
      ...plainProduct('q4', 1, 70),
      parts: formats.map((format, index) => ({ format, outputs: 20 + 13 * index })),
      hasNorm: true,
      hasBias: true,
      hasResidual: true,
    }),
  );

  it.each(QUANTISED.filter(format => !isSuperBlockFormat(format)))(
    'holds the largest codes of %s without overflow',
    async format => {
      const weights = new ProductWeights(plainProduct(format, 16, 64));
      const { content } = weights.graph.inputs[1]!;
      // All codes at their largest magnitude, scales of 1: integer sums are as large as they get.
      content!.fill(0xff);
      const blockBytes = content!.length / 2;
      const scaleBytes = 32 * (WEIGHT_FORMATS[format].hasMinimum ? 2 : 1);
      const halves = new Uint16Array(content!.buffer);
      for (const block of [0, 1]) {
        const end = ((block + 1) * blockBytes) / 2;
        halves.fill(0x3c00, end - scaleBytes / 2, end - scaleBytes / 2 + 16);
        if (WEIGHT_FORMATS[format].hasMinimum) halves.fill(0, end - 16, end);
      }
      const { bits, hasMinimum } = WEIGHT_FORMATS[format];
      const value = 2 ** bits - 1 - (hasMinimum ? 0 : 2 ** (bits - 1));
      using session = await ProductSession.create(weights, { isa });
      for (const sign of [1, -1]) {
        const y = await session.run({ x: new Float32Array(64).fill(127 * sign), residual: undefined });
        expect([...y]).toEqual(Array.from({ length: 16 }, () => 64 * 127 * sign * value));
      }
    },
  );

  it.each(['q4-k', 'q5-k', 'q6-k'] as const)(
    'holds the largest codes and scales of %s without overflow',
    async format => {
      const weights = new ProductWeights(plainProduct(format, 16, 64));
      const { content } = weights.graph.inputs[1]!;
      const { bits, hasMinimum } = WEIGHT_FORMATS[format];
      // Two blocks of a super-block: all codes and scales at their largest magnitude, minimums of zero, factors of 1.
      content!.fill(0xff);
      const factorBytes = hasMinimum ? 64 : 32;
      new Uint16Array(content!.buffer).fill(0x3c00, 0, factorBytes / 2);
      for (const block of [1, 2]) {
        const end = factorBytes + block * blockBytes(format);
        if (hasMinimum) content!.fill(0, end - 16, end);
        else content!.fill(0x80, end - 32, end);
      }
      const value = hasMinimum ? 255 * (2 ** bits - 1) : -128 * 31;
      using session = await ProductSession.create(weights, { isa });
      for (const sign of [1, -1]) {
        const y = await session.run({ x: new Float32Array(64).fill(127 * sign), residual: undefined });
        expect([...y]).toEqual(Array.from({ length: 16 }, () => 64 * 127 * sign * value));
      }
    },
  );

  it('multiplies codes of -128 exactly', async () => {
    const weights = new ProductWeights(plainProduct('q8', 16, 32));
    const { content } = weights.graph.inputs[1]!;
    content!.fill(0, 0, 512);
    new Uint16Array(content!.buffer).fill(0x3c00, 256);
    using session = await ProductSession.create(weights, { isa });
    for (const sign of [1, -1]) {
      const y = await session.run({ x: new Float32Array(32).fill(127 * sign), residual: undefined });
      expect([...y]).toEqual(Array.from({ length: 16 }, () => 32 * 127 * sign * -128));
    }
  });

  it('takes a block of numbers too small to divide by for zeros', async () => {
    const weights = new ProductWeights(plainProduct('q4', 20, 64));
    const x = new Float32Array(64).fill(1e-38, 0, 32).fill(1, 32);
    using session = await ProductSession.create(weights, { isa });
    const rest = x.map(value => (value < 1 ? 0 : value));
    const expected = await session.run({ x: rest, residual: undefined });
    expect(await session.run({ x, residual: undefined })).toEqual(expected);
  });

  it('gives zeros for a row of zeros', async () => {
    const weights = new ProductWeights(plainProduct('q4-min', 20, 40));
    using session = await ProductSession.create(weights, { isa });
    const y = await session.run({ x: new Float32Array(80), residual: undefined });
    expect(y.every(value => value === 0)).toBe(true);
  });

  it.each(['q4', 'q8', 'f32'] as const)('a NaN in a row of %s shows in that row only', async format => {
    const weights = new ProductWeights(plainProduct(format, 40, 64));
    const { x } = weights.randomRows(5);
    using session = await ProductSession.create(weights, { isa });
    const before = await session.run({ x, residual: undefined });
    // The first half of a block and the second one.
    for (const input of [3, 61]) {
      const spoilt = x.slice();
      spoilt[2 * 64 + input] = Number.NaN;
      const after = await session.run({ x: spoilt, residual: undefined });
      expect(after.subarray(80, 120).every(Number.isNaN)).toBe(true);
      expect(after.subarray(0, 80)).toEqual(before.subarray(0, 80));
      expect(after.subarray(120)).toEqual(before.subarray(120));
    }
  });
});

describe('Product on all instruction sets', () => {
  it.each(FORMATS)('has the same bits in %s', async format => {
    const weights = new ProductWeights({
      inputs: 300,
      parts: [{ format, outputs: 90 }],
      isGated: true,
      activation: 'silu',
      hasNorm: true,
      hasBias: true,
      hasResidual: true,
      activationBits: 16,
      seed: 5,
    });
    const rows = weights.randomRows(11);
    const results = [];
    for (const isa of INSTRUCTION_SETS) {
      using session = await ProductSession.create(weights, { isa });
      results.push(await session.run(rows));
    }
    for (const result of results) expect(result).toEqual(results[0]);
  });
});
