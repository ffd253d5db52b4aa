import { describe, expect, it } from 'vitest';
import { DEFAULT_CONSTRAINT_LIMITS } from '../constraint-spec.ts';
import { isEbnf, parseEbnf } from './parse-ebnf.ts';

const parse = (text: string) => Object.fromEntries(parseEbnf(text, DEFAULT_CONSTRAINT_LIMITS));
const text = (value: string) => ({ kind: 'text', text: value });

describe('EBNF', () => {
  it('is recognised by its definitions', () => {
    expect([isEbnf('root ::= "a"'), isEbnf('start: "a"')]).toEqual([true, false]);
  });

  it('binds quantifiers before sequences, and sequences before alternatives', () => {
    expect(parse('root ::= "a" "b"* | "c"')).toEqual({
      root: {
        kind: 'choice',
        items: [
          {
            kind: 'sequence',
            items: [text('a'), { kind: 'repeat', item: text('b'), min: 0, max: null }],
          },
          text('c'),
        ],
      },
    });
  });

  it.each([
    ['{2}', 2, 2],
    ['{2,}', 2, null],
    ['{,5}', 0, 5],
    ['{ 2 , 5 }', 2, 5],
    ['+', 1, null],
    ['?', 0, 1],
  ])('counts repetitions: %s', (bounds, min, max) => {
    expect(parse(`root ::= "a"${bounds}`).root).toEqual({ kind: 'repeat', item: text('a'), min, max });
  });

  it.each([
    [
      '[a-c-]',
      [
        [45, 45],
        [97, 99],
      ],
    ],
    ['[c-da-b]', [[97, 100]]],
    [
      '[\\x41\\u00e9\\]]',
      [
        [65, 65],
        [93, 93],
        [233, 233],
      ],
    ],
    ['[^\\U00000001-\\U0010FFFF]', [[0, 0]]],
  ])('has classes of characters: %s', (source, ranges) => {
    expect(parse(`root ::= ${source}`).root).toEqual({ kind: 'characters', ranges });
  });

  it('continues a rule over lines and comments up to the next definition', () => {
    expect(Object.keys(parse('root ::= "a" # first\n  | b\n\nb ::= "b"'))).toEqual(['root', 'b']);
  });

  it.each([
    ['root ::= "a\nb ::= "b"', 1, /a text is not closed/],
    ['root ::= a\na ::= "a" )', 2, /a rule was expected/],
    ['root ::= "a"\nroot ::= "b"', 2, /defined twice/],
    ['root ::=\n\n("a"', 3, /"\)" was expected/],
    ['root ::= "a"\nb ::= [z-a]', 2, /the wrong way round/],
    ['root ::= "a"{3,2}', 1, /the wrong way round/],
    ['root ::= "a"{10001}', 1, /10000 at most/],
    ['root ::= [^\\x00-\\U0010FFFF]', 1, /is empty/],
    ['root ::= "\\q"', 1, /escape \\q is not known/],
    ['root ::= (=a)', 1, /look-ahead/],
  ])('refuses %j and names line %i', (source, line, message) => {
    expect(() => parse(source)).toThrow(message);
    expect(() => parse(source)).toThrow(`(at grammar, line ${line}).`);
  });

  it.each([
    ['a ::= "a"', /rule root, which is not defined/],
    ['root ::= b', /root uses b, which is not defined/],
  ])('refuses %j', (source, message) => {
    expect(() => parse(source)).toThrow(message);
  });
});
