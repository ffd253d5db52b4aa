import { describe, expect, it } from 'vitest';
import {
  JsonSyntaxError,
  parseLosslessJson,
  parseTypedJson,
  stringifyLosslessJson,
} from './lossless-json.ts';

function faultOf(text: string, maxDepth?: number): JsonSyntaxError {
  try {
    parseLosslessJson(text, maxDepth === undefined ? {} : { maxDepth });
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error;
    throw error;
  }
  throw new Error(`accepted ${text}`);
}

describe('parseLosslessJson', () => {
  it.each([
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992n],
    ['-9007199254740993', -9007199254740993n],
    ['9223372036854775807', 9223372036854775807n],
    ['9223372036854776000', 9223372036854776000n],
    ['[18446744073709551616]', [18446744073709551616n]],
    ['{"seed":-9223372036854775808}', { seed: -9223372036854775808n }],
    ['1e30', 1e30],
    ['12345678901234567890.5', Number('12345678901234567890.5')],
    ['0.12345678901234567', Number('0.12345678901234567')],
    ['1e-400', 0],
    ['"9223372036854775807"', '9223372036854775807'],
    ['0000', undefined],
  ])('reads %s', (text, expected) => {
    if (expected === undefined) expect(() => parseLosslessJson(text)).toThrow(JsonSyntaxError);
    else expect(parseLosslessJson(text)).toEqual(expected);
  });

  it('keeps the last of two equal keys, as the plain parser does', () => {
    expect(parseLosslessJson('{"a":1,"a":2}')).toEqual({ a: 2 });
  });

  it('keeps a key named __proto__ an ordinary key', () => {
    const parsed = parseLosslessJson('{"__proto__":{"big":9223372036854775807}}') as object;
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    expect(Object.hasOwn(parsed, '__proto__')).toBe(true);
  });

  it.each([
    ['', 0],
    ['   ', 3],
    ['{', 1],
    ['[1,2', 4],
    ['{"a":1,}', 7],
    ['{"a" 1}', 5],
    ['{"a":}', 5],
    ['{a:1}', 1],
    ['[1 2]', 3],
    ['[1]]', 3],
    ['[}', 1],
    ['nul', 0],
    ['NaN', 0],
    ['[Infinity]', 1],
    ['"abc', 4],
    ['"a\nb"', 2],
    ['"a\\x"', 2],
    ['"\\u12g4"', 1],
    ['01', 1],
    ['1.', 1],
    ['+1', 0],
    ['{"a":[{"b":tru}]}', 11],
    ['1e400', 0],
    ['{"a":[1,-1e999]}', 8],
    [`[${'9'.repeat(4_301)}]`, 1],
    [`[${'9'.repeat(400)}, x]`, 403],
  ])('points at the fault of %s', (text, position) => {
    expect(faultOf(text)).toMatchObject({ position });
  });

  it('never accepts a number beyond all doubles', () => {
    expect(faultOf('[1.7976931348623157e308, 2e308]').message).toBe('Number out of range at position 25');
    expect(parseLosslessJson('1.7976931348623157e308')).toBe(Number.MAX_VALUE);
    expect(faultOf('[1e400]').limit).toBe('number');
    expect(faultOf('[1e400').limit).toBe('number');
    expect(faultOf('[1e40').limit).toBe(null);
  });

  it('keeps the digits of integers that no double can hold, up to those that Python reads', () => {
    for (const digits of ['9'.repeat(400), `-${'9'.repeat(4_300)}`])
      expect(parseLosslessJson(`{"a":[1.5,${digits}]}`)).toEqual({ a: [1.5, BigInt(digits)] });
    expect(faultOf('9'.repeat(4_301)).limit).toBe('number');
  });

  it('refuses nesting past the limit and names the place', () => {
    expect(parseLosslessJson('[[1]]', { maxDepth: 2 })).toEqual([[1]]);
    expect(faultOf('[[[1]]]', 2)).toMatchObject({ position: 2 });
    expect(faultOf('['.repeat(1_000_000)).message).toBe('More than 128 nested levels at position 128');
  });

  it('does not count brackets inside of strings as nesting', () => {
    const text = String.raw`{"a":"[[[[","b":"\"[[[","c":"\\","d":"x"}`;
    expect(parseLosslessJson(text, { maxDepth: 1 })).toEqual(JSON.parse(text));
  });

  it('finds the fault of a long text without running out of stack', () => {
    expect(faultOf(`["${'a'.repeat(3_000_000)}`)).toMatchObject({ position: 3_000_002 });
    expect(faultOf(`[${' '.repeat(3_000_000)}x`)).toMatchObject({ position: 3_000_001 });
  });
});

describe('parseTypedJson', () => {
  it.each([
    ['20.0', Object(20)],
    ['2e1', Object(20)],
    ['-0.0', Object(-0)],
    ['{"a":[1.00,1,1.5,"2.0"]}', { a: [Object(1), 1, 1.5, '2.0'] }],
    ['[1e30,1.0,9223372036854775807]', [1e30, Object(1), 9223372036854775807n]],
    ['1.05', 1.05],
  ])('reads %s', (text, expected) => {
    expect(parseTypedJson(text)).toStrictEqual(expected);
  });

  it('refuses what parseLosslessJson refuses', () => {
    for (const text of ['{"a":1.0', '[1.0,1e999]', '['.repeat(200)])
      expect(() => parseTypedJson(text)).toThrow(JsonSyntaxError);
  });
});

describe('stringifyLosslessJson', () => {
  it('writes bigints as plain integers', () => {
    expect(stringifyLosslessJson({ seed: 9223372036854775807n, n: [1, -5n] })).toBe(
      '{"seed":9223372036854775807,"n":[1,-5]}',
    );
  });

  it.each([NaN, Infinity, -Infinity])('refuses %s', value => {
    expect(() => stringifyLosslessJson({ value })).toThrow('JSON has no');
  });
});
