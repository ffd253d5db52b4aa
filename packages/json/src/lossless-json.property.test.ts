import fc from 'fast-check';
import { expect, it } from 'vitest';
import { JsonSyntaxError, parseLosslessJson, stringifyLosslessJson } from './lossless-json.ts';

const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

it('every 64-bit integer survives reading and writing', () => {
  fc.assert(
    fc.property(fc.bigInt(INT64), value => {
      const parsed = parseLosslessJson(String(value));
      expect(typeof parsed).toBe(Number.isSafeInteger(Number(value)) ? 'number' : 'bigint');
      expect(stringifyLosslessJson(parsed)).toBe(String(value));
    }),
  );
});

it('reading and writing agree with the plain functions on every JSON value', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), text => {
      const value = JSON.parse(text);
      // Doubles are written with up to 21 digits, so whole ones past 2^53 come back as bigint of the same digits.
      expect(stringifyLosslessJson(parseLosslessJson(text))).toBe(JSON.stringify(value));
    }),
  );
});

it('text is refused exactly when the plain parser refuses it or makes a number infinite, at a place inside of the text', () => {
  const pieces = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    '"a"',
    '"',
    '1',
    '-',
    '.5',
    'e9',
    'true',
    ' ',
    '\\',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 8 }), parts => {
      const text = parts.join('');
      let isValid = true;
      try {
        JSON.parse(text, (_key, value: unknown) => {
          if (typeof value === 'number' && !Number.isFinite(value)) isValid = false;
          return value;
        });
      } catch {
        isValid = false;
      }
      try {
        parseLosslessJson(text);
        expect(isValid).toBe(true);
      } catch (error) {
        expect(isValid).toBe(false);
        expect(error).toBeInstanceOf(JsonSyntaxError);
        const { position } = error as JsonSyntaxError;
        expect(position).toBeGreaterThanOrEqual(0);
        expect(position).toBeLessThanOrEqual(text.length);
      }
    }),
    { numRuns: 2000 },
  );
});
