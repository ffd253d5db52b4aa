import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseLosslessJson, stringifyLosslessJson } from './lossless-json.ts';
import { MAX_INTEGER_DIGITS } from './number-range.ts';
import { replaceBigIntegers } from './replace-integers.ts';

const marked = (text: string) => replaceBigIntegers(text, digits => `{"big":"${digits}"}`);

it.each([
  ['9007199254740993', '{"big":"9007199254740993"}'],
  ['[-9223372036854775808, 7]', '[{"big":"-9223372036854775808"}, 7]'],
  [
    '{"a": 9007199254740993 ,"b":[9007199254740992]}',
    '{"a": {"big":"9007199254740993"} ,"b":[{"big":"9007199254740992"}]}',
  ],
])('replaces the integers of %s', (text, expected) => {
  expect(marked(text)).toBe(expected);
});

it.each([
  '9007199254740991',
  '{"seed": 5}',
  '"9007199254740993"',
  '{"9007199254740993": "a \\" 9007199254740993 \\\\"}',
  '[9007199254740993.5, 9007199254740993e0, 1.9007199254740993123, 1e400]',
  '9'.repeat(MAX_INTEGER_DIGITS + 1),
])('leaves %s as it is', text => {
  expect(marked(text)).toBe(text);
});

it('leaves JSON and no JSON what they are', () => {
  const pieces = ['{', '}', '[', ']', ':', ',', '"', '\\', '-', '.', 'e', '0', '9007199254740993', 'x', ' '];
  const isJson = (text: string) => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  const text = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map(parts => parts.join(''));
  fc.assert(
    fc.property(text, given => {
      expect(isJson(marked(given))).toBe(isJson(given));
    }),
    { numRuns: 2_000 },
  );
});

it('reads the integers that the lossless parser reads, of any value', () => {
  const value = fc.letrec(tie => ({
    value: fc.oneof(
      fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
      fc.string(),
      fc.double({ noDefaultInfinity: true, noNaN: true }),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.string(), tie('value'), { maxKeys: 3 }),
    ),
  })).value;
  const toText = (_key: string, child: unknown) => (typeof child === 'bigint' ? `${child}n` : child);
  fc.assert(
    fc.property(value, given => {
      const text = stringifyLosslessJson(given);
      const expected = JSON.stringify(parseLosslessJson(text), toText);
      expect(JSON.parse(replaceBigIntegers(text, digits => `"${digits}n"`))).toEqual(JSON.parse(expected));
    }),
  );
});
