import { parseLosslessJson, stringifyLosslessJson } from '@ortler/json';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { laxBigInteger } from './lax-primitives.ts';

const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

it('every 64-bit integer survives reading, the schema and writing', () => {
  const schema = laxBigInteger(INT64.min, INT64.max);
  fc.assert(
    fc.property(fc.bigInt(INT64), value => {
      const parsed = schema.parse(parseLosslessJson(String(value)));
      expect(BigInt(parsed)).toBe(value);
      expect(typeof parsed).toBe(Number.isSafeInteger(Number(value)) ? 'number' : 'bigint');
      expect(stringifyLosslessJson(parsed)).toBe(String(value));
    }),
  );
});
