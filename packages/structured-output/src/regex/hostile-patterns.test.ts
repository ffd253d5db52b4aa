// Regular expressions that are known to end other engines: by trying again and again, by automata with too many states, or
// by what no automaton can do. Each is refused with its place, or served; and what is served can be followed to its end.

import { describe, expect, it } from 'vitest';
import { prepare } from '../../test/feed-text.ts';
import { generate } from '../../test/random-generation.ts';
import type { ConstraintSpec } from '../constraint-spec.ts';

const json = (schema: unknown): ConstraintSpec => ({ jsonSchema: schema });
const tag = (format: unknown): ConstraintSpec => ({ structuralTag: { format } });

const LOOK = /Look-ahead and look-behind are not supported \(at regex\)/;
const BACK = /Back-references are not supported \(at regex\)/;
const SIZE = /written out the pattern has \d+ characters; 20000 are allowed \(at regex\)/;
const COUNTS = /A counted repetition holds another one, .*\(at regex\)/;
const SYNTAX = /cannot be compiled: .*\(at regex\)/s;

const REFUSED: readonly (readonly [pattern: string, reason: RegExp])[] = [
  ['(?=a)b', LOOK],
  ['(?!a)b', LOOK],
  ['(?<=a)b', LOOK],
  ['(?<!a)b', LOOK],
  ['(a)\\1', BACK],
  ['(?P<x>a)(?P=x)', SYNTAX],
  ['(?>a+)b', SYNTAX],
  ['\\bword\\b', SYNTAX],
  ['(?:a{1,999}){1,999}', SIZE],
  ['(((a{1,100}){1,100}){1,100})', SIZE],
  ['a{20001}', SIZE],
  ['(?:(?:ab){1,50}|(?:ba){1,50}){1,150}', SIZE],
  ['(?:[a-z]{1,100}[0-9a-z]){1,100}', COUNTS],
  ['(\\w{1,300}\\W?){1,60}', COUNTS],
  ['(\\p{L}{1,100}\\p{N}{0,100}){1,50}', COUNTS],
  ['(a{1,140}){1,140}', COUNTS],
  ['(?:.{1,100}){1,100}x', COUNTS],
  ['(?:[ab]{1,30}a[ab]{1,30}){1,60}', COUNTS],
  ['((a{0,5}){0,5}){0,500}', COUNTS],
];

/** Exponential time in a matcher that backtracks (ReDoS); harmless to derivatives. */
const AMBIGUOUS = [
  '((a+)+)+b',
  '(a*)*b',
  '(a|a)*b',
  '(a|aa)+$',
  '(a|b|ab)*c',
  '(x+x+)+y',
  '(.*)*x',
  '(?:(?:a|aa)+){30}b',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  '([a-z0-9]+[-._]?)+@([a-z0-9]+\\.)+[a-z]{2,63}',
  '(a?){500}a{500}',
  '(.*a){20}',
  '(a|b|ab)*c{1,500}',
];

const SERVED = [
  '(.*a.{20})c',
  '(.*a.{200})c',
  '(?:a|b)*a(?:a|b){30}',
  '(?:(?:[01]*1[01]{14})|(?:[01]*0[01]{15}))2',
  '.*.*.*.*.*.*.*.*.*.*x',
  '([^a]*a){1000}',
  '[\\p{L}]{1,5000}',
  '(\\p{L}|\\p{N}|\\p{S})*.{500}',
  '[\\s\\S]{10000}',
  'a{1,20000}',
  '.{1,100}a.{1,100}b.{1,100}c.{1,100}',
  '(|a)+',
  // Counts in counts that a character keeps apart.
  '(?:\\d{1,3}\\.){1,3000}x',
  '(?:[a-z]{1,10} ){1,50}',
  '(?:.{1,80}\\n){1,40}',
  '(?:[0-9a-f]{1,4}:){1,7}[0-9a-f]{1,4}',
  '(?:[A-Z][a-z]{0,20} ){1,20}',
];

describe('hostile regular expressions', () => {
  it.each(REFUSED)('%s is refused with its place', (pattern, reason) => {
    expect(() => prepare({ regex: pattern })).toThrow(reason);
  });

  it.each([...SERVED, ...AMBIGUOUS])(
    '%s is served, and every text can be continued',
    { timeout: 60_000 },
    pattern => {
      const { grammar } = prepare({ regex: pattern });
      for (const seed of [1, 2, 3]) expect(() => generate(grammar, seed, 100)).not.toThrow();
    },
  );

  it('are refused as patterns of JSON Schema and in grammars too', () => {
    const pattern = '^(?:[a-z]{1,100}[0-9a-z]){1,100}$';
    const schema = { type: 'object', properties: { a: { pattern } } };
    expect(() => prepare({ jsonSchema: schema })).toThrow(
      /A counted repetition holds another one, .*\(at #\/properties\/a\/pattern\)/,
    );
    for (const text of [
      'root ::= ([a-z]{1,100} [a-z0-9]){1,100}',
      'start: /(?:[a-z]{1,100}[0-9a-z]){1,100}/',
      'start: T\nT: (/[a-z]/{1,100} /[a-z0-9]/){1,100}',
    ])
      expect(() => prepare({ grammar: text }), text).toThrow(
        /A counted repetition holds another one, .*\(at grammar\)/,
      );
  });

  it.each(REFUSED.filter(([, reason]) => reason !== SYNTAX))(
    '%s is refused inside a tag with the place there',
    pattern => {
      expect(() => prepare(tag({ type: 'regex', pattern }))).toThrow('(at #/format/pattern)');
    },
  );

  it.each<readonly [where: string, spec: ConstraintSpec]>([
    ['a pattern', json({ properties: { a: { pattern: '^(a+)+$' } } })],
    ['a pattern of names', json({ patternProperties: { '^(a|a)*$': { type: 'null' } } })],
    ['a pattern of all names', json({ propertyNames: { pattern: '^(a+)+$' } })],
    ['a keyword that is checked at the end only', json({ not: { pattern: '^(a+)+$' } })],
    ['look-ahead, which is checked at the end too', json({ pattern: '^(?=(a+)+b)' })],
    ['a definition', json({ $ref: '#/$defs/a', $defs: { a: { pattern: '^(a+)+$' } } })],
    ['a regular expression in a tag', tag({ type: 'regex', pattern: '(a+)+b' })],
    ['a schema in a tag', tag({ type: 'json_schema', json_schema: { items: { pattern: '^(a+)+$' } } })],
    ['a terminal of Lark', { grammar: 'start: T "!"\nT: /(a+)+b/' }],
    ['a large pattern', json({ pattern: `(${'a?'.repeat(2_000)}b)*c` })],
  ])('ambiguous patterns are served in %s', (_where, spec) => {
    expect(() => prepare(spec)).not.toThrow();
  });
});
