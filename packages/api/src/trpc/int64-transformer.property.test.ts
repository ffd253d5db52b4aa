import fc from 'fast-check';
import { expect, it } from 'vitest';
import { int64Transformer } from './int64-transformer.ts';

const { serialize, deserialize } = int64Transformer.input;
const throughJson = (value: unknown): unknown => deserialize(JSON.parse(JSON.stringify(serialize(value))));

it('carries integers of any size that REST reads through JSON, at any depth', () => {
  const withBigints = fc.letrec(tie => ({
    value: fc.oneof(
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n }),
      fc.bigInt({ min: -(10n ** 4_300n - 1n), max: 10n ** 4_300n - 1n }),
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(
        fc.string().filter(key => key !== '__proto__'),
        tie('value'),
        { maxKeys: 3, noNullPrototype: true },
      ),
    ),
  })).value;
  fc.assert(
    fc.property(withBigints, value => {
      expect(throughJson(value)).toEqual(value);
    }),
  );
});

it('passes requests without 64-bit integers on as they are', () => {
  const request = { messages: [{ role: 'user', content: 'hi' }], seed: 5 };
  expect(serialize(request)).toBe(request);
  expect(deserialize(request)).toBe(request);
});

it('leaves an object alone that only looks like a tagged integer', () => {
  for (const value of [{ $int64: 'x' }, { $int64: '1', other: 1 }, { $int64: 1 }])
    expect(deserialize(value)).toEqual(value);
});

it('refuses nesting past its limit, and takes it at the limit', () => {
  const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
  expect(() => deserialize(nested(129))).toThrow('nested deeper than 128 levels');
  expect(() => deserialize(nested(100_000))).toThrow('nested deeper than 128 levels');
  expect(deserialize(nested(128))).toEqual(nested(128));
});
