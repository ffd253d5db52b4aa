// Regular expressions that are known to end other engines: by trying again and again, by automata with too many states, or
// by what no automaton can do. Each is refused with its place, or served; and what is served can be followed to its end.

import { describe, expect, it } from 'vitest';
import type { ConstraintSpec } from '../../src/request/constraint-spec.ts';
import { prepare } from './feed-text.ts';
import { generate } from './random-generation.ts';

const json = (schema: unknown): ConstraintSpec => ({ kind: 'json-schema', schema });
const tag = (format: unknown): ConstraintSpec => ({ kind: 'structural-tag', tag: { format } });

const LOOK = /Look-ahead and look-behind are not supported \(at regex\)/;
const BACK = /Back-references are not supported \(at regex\)/;
const SIZE = /written out the pattern has \d+ characters; 20000 are allowed \(at regex\)/;
const COUNTS = /A counted repetition holds another one, .*\(at regex\)/;
const AMBIGUOUS =
  /repeats ".+" in two ways over the same text, .* set ambiguous-patterns to serve \(at regex\)/;
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

/** Harmless here, but not to whoever checks the answer with a matcher that backtracks. */
const SERVED_ON_DEMAND = [
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
    expect(() => prepare({ kind: 'regex', pattern })).toThrow(reason);
  });

  it.each(SERVED)('%s is served, and every text can be gone on with', { timeout: 60_000 }, pattern => {
    const { grammar } = prepare({ kind: 'regex', pattern });
    for (const seed of [1, 2, 3]) expect(() => generate(grammar, seed, 100)).not.toThrow();
  });

  it.each(SERVED_ON_DEMAND)('%s is refused, or served and gone on with', { timeout: 60_000 }, pattern => {
    expect(() => prepare({ kind: 'regex', pattern })).toThrow(AMBIGUOUS);
    const { grammar } = prepare({ kind: 'regex', pattern }, 'serve');
    for (const seed of [1, 2, 3]) expect(() => generate(grammar, seed, 100)).not.toThrow();
  });

  it('are refused as patterns of JSON Schema and in grammars too', () => {
    const pattern = '^(?:[a-z]{1,100}[0-9a-z]){1,100}$';
    const schema = { type: 'object', properties: { a: { pattern } } };
    expect(() => prepare({ kind: 'json-schema', schema })).toThrow(
      /A counted repetition holds another one, .*\(at #\/properties\/a\/pattern\)/,
    );
    for (const text of [
      'root ::= ([a-z]{1,100} [a-z0-9]){1,100}',
      'start: /(?:[a-z]{1,100}[0-9a-z]){1,100}/',
      'start: T\nT: (/[a-z]/{1,100} /[a-z0-9]/){1,100}',
    ])
      expect(() => prepare({ kind: 'grammar', text }), text).toThrow(
        /A counted repetition holds another one, .*\(at grammar\)/,
      );
  });

  it.each(REFUSED.filter(([, reason]) => reason !== SYNTAX))(
    '%s is refused inside a tag with the place there',
    pattern => {
      expect(() => prepare(tag({ type: 'regex', pattern }))).toThrow('(at #/format/pattern)');
    },
  );

  it.each<readonly [what: string, spec: ConstraintSpec, place: string]>([
    ['a pattern', json({ properties: { a: { pattern: '^(a+)+$' } } }), '#/properties/a/pattern'],
    [
      'a pattern of names',
      json({ patternProperties: { '^(a|a)*$': { type: 'null' } } }),
      '#/patternProperties/^(a|a)*$',
    ],
    ['a pattern of all names', json({ propertyNames: { pattern: '^(a+)+$' } }), '#/propertyNames/pattern'],
    ['what is checked at the end only', json({ not: { pattern: '^(a+)+$' } }), '#/not/pattern'],
    ['look-ahead, which is checked at the end too', json({ pattern: '^(?=(a+)+b)' }), '#/pattern'],
    ['a definition', json({ $ref: '#/$defs/a', $defs: { a: { pattern: '^(a+)+$' } } }), '#/$defs/a/pattern'],
    ['a regular expression in a tag', tag({ type: 'regex', pattern: '(a+)+b' }), '#/format/pattern'],
    [
      'a schema in a tag',
      tag({ type: 'json_schema', json_schema: { items: { pattern: '^(a+)+$' } } }),
      '#/format/json_schema/items/pattern',
    ],
    ['a terminal of Lark', { kind: 'grammar', text: 'start: T "!"\nT: /(a+)+b/' }, 'grammar'],
    [
      'a pattern that is too large to be judged',
      json({ pattern: `(${'a?'.repeat(2_000)}b)*c` }),
      '#/pattern',
    ],
  ])('are refused in %s', (_what, spec, place) => {
    expect(() => prepare(spec)).toThrow(`(at ${place})`);
    expect(() => prepare(spec, 'serve')).not.toThrow();
  });

  it('are no matter in texts, comments, data and rules', () => {
    for (const spec of [
      json({ const: { pattern: '(a+)+b' } }),
      json({ properties: { pattern: { type: 'string' } } }),
      { kind: 'choice', choices: ['(a+)+b'] },
      { kind: 'grammar', text: 'start: "/" ("a"+)+ "/" // (a+)+b/\n' },
      { kind: 'grammar', text: 'root ::= ("a"+)+ "b"' },
      tag({ type: 'const_string', value: '(a+)+b' }),
    ] satisfies ConstraintSpec[])
      expect(() => prepare(spec)).not.toThrow();
  });
});
