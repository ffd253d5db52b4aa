import { describe, expect, it } from 'vitest';
import { MAX_JSON_DEPTH, parseLosslessJson } from './lossless-json.ts';

describe('parseLosslessJson', () => {
  it('keeps every digit of integers past 2^53', () => {
    expect(parseLosslessJson('{"seed":9223372036854775807}')).toEqual({ seed: 9223372036854775807n });
    expect(parseLosslessJson('[-9007199254740993]')).toEqual([-9007199254740993n]);
  });

  it('reads safe integers, fractions and exponents as numbers', () => {
    expect(parseLosslessJson('[1, 9007199254740991, 0.12345678901234567, 1e30]')).toEqual([
      1, 9007199254740991, 0.12345678901234567, 1e30,
    ]);
  });

  it('leaves digits inside strings alone', () => {
    expect(parseLosslessJson('{"a":"12345678901234567890"}')).toEqual({ a: '12345678901234567890' });
  });

  it('refuses nesting past its limit and accepts it at the limit', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    expect(() => parseLosslessJson(nested(MAX_JSON_DEPTH + 1))).toThrow(/nested deeper/);
    expect(() => parseLosslessJson(nested(MAX_JSON_DEPTH))).not.toThrow();
  });

  it('does not count brackets inside strings', () => {
    const text = JSON.stringify(['\\"[['.repeat(200)]);
    expect(parseLosslessJson(text)).toEqual(JSON.parse(text));
  });
});
