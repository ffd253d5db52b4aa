import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileEcma } from '../compile-ecma.ts';
import {
  type CharacterSet,
  complement,
  foldCase,
  intersection,
  overlap,
  setOf,
  setOfProperty,
  union,
} from './character-set.ts';
import { readRegex } from './read-regex.ts';
import { WorkBudget } from './work-budget.ts';

const has = (set: CharacterSet, code: number) => set.some(([first, last]) => first <= code && code <= last);
const readSet = (source: string): CharacterSet => {
  const node = readRegex(source, 'ecma', new WorkBudget(100_000));
  if (node.kind !== 'set') throw new Error(`${source} is no set`);
  return node.set;
};

const someSet = fc
  .array(fc.tuple(fc.nat(40), fc.nat(10)), { maxLength: 5 })
  .map(ranges => setOf(...ranges.map(([first, length]) => [first, first + length] as const)));

describe('sets of characters', () => {
  it('are joined, met and turned round as sets are', () => {
    fc.assert(
      fc.property(someSet, someSet, (a, b) => {
        for (let code = 0; code < 60; code++) {
          expect(has(union(a, b), code)).toBe(has(a, code) || has(b, code));
          expect(has(intersection(a, b), code)).toBe(has(a, code) && has(b, code));
          expect(has(complement(a), code)).toBe(!has(a, code));
        }
        expect(overlap(a, b)).toBe(intersection(a, b).length > 0);
        expect(complement(complement(a))).toEqual(a);
      }),
    );
  });

  it('take the other case of ASCII letters', () => {
    expect(foldCase(setOf([0x40, 0x43], [0x79, 0x7c]))).toEqual([
      [0x40, 0x43],
      [0x59, 0x5a],
      [0x61, 0x63],
      [0x79, 0x7c],
    ]);
  });

  it('have the characters of a property, and are none when there is no such property', () => {
    const digits = setOfProperty('Nd')!;
    for (const character of ['0', '٣', '𝟘']) expect(has(digits, character.codePointAt(0)!)).toBe(true);
    expect(has(digits, 0x61)).toBe(false);
    expect(setOfProperty('Co')!.at(-1)).toEqual([0xf_0000, 0x10_ffff]);
    expect(setOfProperty('Nonsense')).toBeNull();
  });
});

describe('classes and escapes', () => {
  it.each([
    '[a-c]',
    '[^a-c]',
    '[]',
    '[^]',
    '.',
    '\\d',
    '\\D',
    '\\w',
    '\\W',
    '\\s',
    '\\S',
    '[\\w-]',
    '[-a]',
    '[a-]',
    '[\\d-z]',
    '[+--]',
    '[\\b]',
    '[.*$]',
    '\\x41',
    '\\u0041',
    '\\u{1F600}',
    '\\cA',
    '\\0',
    '\\/',
    '[\\]\\\\]',
    '[^\\s"]',
    '\\t',
    '[[a]',
    '😀',
    '[é-ü]',
    '\\p{Lu}',
    '[^\\p{L}]',
  ])('%s has the characters that JavaScript says', source => {
    const set = readSet(source);
    const native = compileEcma(`^${source}$`);
    for (let code = 0; code < 0x3100; code += code < 0x100 ? 1 : 7)
      expect(has(set, code), `U+${code.toString(16)}`).toBe(native.test(String.fromCodePoint(code)));
    if (native.unicode) expect(has(set, 0x1f600)).toBe(native.test('😀'));
  });
});
