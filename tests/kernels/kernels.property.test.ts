// Products and attention of random shapes: values against float64, and the same bits in any company.

import { WEIGHT_FORMATS, type WeightFormat } from '@ortler/kernels';
import fc from 'fast-check';
import { runs } from 'test-runs';
import { describe, expect, it } from 'vitest';
import { Random } from '../support/random.ts';
import { AttentionSession, type AttentionShape, qkvWidth } from './attention-operator.ts';
import { expectedAttention } from './attention-oracle.ts';
import { INSTRUCTION_SETS } from './instruction-sets.ts';
import { ProductSession, type ProductShape, ProductWeights } from './product-operator.ts';
import { worstShare } from './worst-share.ts';

const QUANTISED = (Object.keys(WEIGHT_FORMATS) as WeightFormat[]).filter(format => format !== 'f32');

const outputs = fc.integer({ min: 1, max: 90 });
const parts = fc.oneof(
  fc.array(fc.record({ format: fc.constantFrom(...QUANTISED), outputs }), { minLength: 1, maxLength: 3 }),
  fc.array(fc.record({ format: fc.constant<WeightFormat>('f32'), outputs }), { minLength: 1, maxLength: 3 }),
);

const productShapes: fc.Arbitrary<ProductShape> = fc
  .record({
    inputs: fc.integer({ min: 1, max: 400 }),
    parts,
    isGated: fc.boolean(),
    activation: fc.constantFrom('none', 'silu', 'gelu'),
    hasNorm: fc.boolean(),
    hasBias: fc.boolean(),
    hasResidual: fc.boolean(),
    activationBits: fc.constantFrom(8, 16),
    seed: fc.nat(),
  })
  .map(shape => (shape.isGated ? { ...shape, parts: shape.parts.slice(0, 1) } : shape));

const attentionShapes: fc.Arbitrary<AttentionShape> = fc
  .record({
    type: fc.constantFrom('float32', 'float16', 'int8'),
    group: fc.integer({ min: 1, max: 8 }),
    kvHeads: fc.integer({ min: 1, max: 3 }),
    headSize: fc.integer({ min: 8, max: 256 }),
    rotaryShare: fc.double({ min: 0, max: 1, noNaN: true }),
    isInterleaved: fc.boolean(),
    window: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 400 })),
    softcap: fc.constantFrom(0, 0, 2, 30),
    scale: fc.constantFrom(undefined, 0.1),
    hasNorms: fc.boolean(),
    hasSinks: fc.boolean(),
    seed: fc.nat(),
  })
  .map(({ group, rotaryShare, ...shape }) => ({
    ...shape,
    capacity: 320,
    heads: group * shape.kvHeads,
    rotary: 2 * Math.floor((rotaryShare * shape.headSize) / 2),
  }));

// The values to compare with cost most of the time, so all instruction sets compare with the same.
describe('random operators on every instruction set', () => {
  it('products are the sums of the codes, and each row is the same alone', async () => {
    await fc.assert(
      fc.asyncProperty(productShapes, fc.integer({ min: 1, max: 20 }), async (shape, rowCount) => {
        const weights = new ProductWeights(shape);
        const rows = weights.randomRows(rowCount);
        const expected = weights.expected(rows);
        for (const isa of INSTRUCTION_SETS) {
          using session = await ProductSession.create(weights, { isa });
          const together = await session.run(rows);
          expect(worstShare(together, expected), isa).toBeLessThan(1);
          for (let row = 0; row < rowCount; row++) {
            const { columns } = weights;
            const alone = await session.run(rows, row, row + 1);
            expect(alone, isa).toEqual(together.subarray(row * columns, (row + 1) * columns));
          }
        }
      }),
      { numRuns: runs({ daily: 30, full: 50 }) },
    );
  });

  it('attention is that of float64 over the same cache, in any chunks', async () => {
    await fc.assert(
      fc.asyncProperty(
        attentionShapes,
        fc.array(
          fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 200 })),
          {
            minLength: 1,
            maxLength: 8,
          },
        ),
        async (shape, lengths) => {
          const chunks = fitInto(shape.capacity, lengths);
          const count = chunks.reduce((sum, length) => sum + length, 0);
          const qkv = new Random(shape.seed).floats(count * qkvWidth(shape), 1.5);
          const expected = expectedAttention(shape, qkv);
          for (const isa of INSTRUCTION_SETS) {
            using session = await AttentionSession.create(shape, { isa });
            const whole = await session.runChunks(qkv, [count]);
            expect(worstShare(whole.y, expected), isa).toBeLessThan(1);
            expect(await session.runChunks(qkv, chunks), isa).toEqual(whole);
          }
        },
      ),
      { numRuns: runs({ daily: 12, full: 20 }) },
    );
  });
});

/** The first chunks that together are no longer than the capacity. */
function fitInto(capacity: number, lengths: readonly number[]): readonly number[] {
  let sum = 0;
  return lengths.filter(length => {
    if (sum + length > capacity) return false;
    sum += length;
    return true;
  });
}
