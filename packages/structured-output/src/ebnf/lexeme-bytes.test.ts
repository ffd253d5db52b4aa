import { describe, expect, it } from 'vitest';
import { DEFAULT_CONSTRAINT_LIMITS } from '../constraint-spec.ts';
import { type ByteSet, lexemeBytes } from './lexeme-bytes.ts';
import { parseEbnf } from './parse-ebnf.ts';

const bytesOf = (set: ByteSet): string =>
  Array.from({ length: 256 }, (_, byte) => byte)
    .filter(byte => ((set[byte >>> 5]! >>> (byte & 31)) & 1) === 1)
    .map(byte => (byte < 0x80 ? String.fromCharCode(byte) : `<${byte.toString(16)}>`))
    .join('');

function analyse(text: string, steps = 10_000): { first: string; further: string } | null {
  const rules = parseEbnf(text, DEFAULT_CONSTRAINT_LIMITS);
  const found = lexemeBytes(rules.get('root')!, rules, { steps });
  return found && { first: bytesOf(found.first), further: bytesOf(found.further) };
}

describe('the bytes of a terminal', () => {
  it.each([
    ['root ::= "ab"', 'a', ''],
    ['root ::= [a-c]+', 'abc', 'abc'],
    ['root ::= "a" "b"*', 'a', 'b'],
    ['root ::= "a"? "b"', 'ab', ''],
    ['root ::= "x" | "xy"', 'x', 'y'],
    // A complete match is extended by the path of another alternative with the same beginning.
    ['root ::= "ab" | "a" [b] "c"', 'a', 'c'],
    ['root ::= [0-9]{1,3}', '0123456789', '0123456789'],
    ['root ::= "a"{2}', 'a', ''],
    ['root ::= [éà]', '<c3>', ''],
    ['root ::= item "!"\nitem ::= "?" | "."', '.?', ''],
  ])('%s: first and extending ones', (text, first, further) => {
    expect(analyse(text)).toEqual({ first, further });
  });

  it('are unknown for a terminal of more than 300 characters', () => {
    expect(analyse('root ::= [a-z]{300}')).not.toBeNull();
    expect(analyse('root ::= [a-z]{301}')).toBeNull();
  });

  it('are unknown when the budget is spent', () => {
    expect(analyse('root ::= ([a-z] [a-z]){1,50}', 10)).toBeNull();
  });
});
