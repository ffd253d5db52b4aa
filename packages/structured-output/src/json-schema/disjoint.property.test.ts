// `oneOf` whose schemas exclude each other, as unions with a discriminator.

import fc from 'fast-check';
import { runs } from 'test-runs';
import { describe, expect, it } from 'vitest';
import { allows, prepare } from '../../test/feed-text.ts';
import { judge } from '../../test/independent-validator.ts';
import { arePairwiseDisjoint } from './disjoint.ts';

const union = (...kinds: object[]) =>
  kinds.map(kind => ({
    type: 'object',
    properties: { kind, next: { $ref: '#/$defs/union' } },
    required: ['kind'],
    additionalProperties: false,
  }));
const [a, b] = union({ const: 'a' }, { const: 'b' });

describe('oneOf', () => {
  it.each([
    [
      'references to objects with a discriminator',
      [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }],
      { kind: 'b', next: { kind: 'a' } },
    ],
    ['a reference or null', [{ $ref: '#/$defs/a' }, { type: 'null' }], null],
    ['lists of values', [{ enum: [1, 'x'] }, { enum: [2, null] }], 2],
    [
      'numbers apart',
      [
        { type: 'integer', maximum: 3 },
        { type: 'number', exclusiveMinimum: 3 },
      ],
      3.5,
    ],
    [
      'an alternative of others',
      [{ anyOf: [{ type: 'string' }, { const: 3 }] }, { type: ['null', 'object'] }],
      3,
    ],
    ['a schema', [{ type: 'integer' }], 7],
  ])('of %s is enforced under strict and in tags', (_, oneOf, value) => {
    const schema = {
      type: 'object',
      properties: { v: { oneOf } },
      required: ['v'],
      additionalProperties: false,
      $defs: { a: a!, b: b!, union: { oneOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }] } },
    };
    const whole = prepare({ jsonSchema: schema, strict: true });
    const part = prepare({ structuralTag: { format: { type: 'json_schema', json_schema: schema } } });
    expect(whole.check).toBeNull();
    for (const prepared of [whole, part]) {
      expect(allows(prepared, JSON.stringify({ v: value }))).toBe(true);
      expect(allows(prepared, '{"v":[]}')).toBe(false);
    }
  });

  it('beside anyOf is enforced with it', () => {
    const oneOf = [
      { type: 'integer', maximum: 3 },
      { type: 'integer', minimum: 5 },
    ];
    const prepared = prepare({
      jsonSchema: { anyOf: [{ maximum: 1 }, { minimum: 6 }], oneOf },
      strict: true,
    });
    expect(['1', '7', '3', '5'].map(text => allows(prepared, text))).toEqual([true, true, false, false]);
  });

  it('without a proof is refused with its place in a tag too', () => {
    const schema = { type: 'array', items: { oneOf: [{ type: 'integer' }, { type: 'number' }] } };
    expect(() =>
      prepare({ structuralTag: { format: { type: 'json_schema', json_schema: schema } } }),
    ).toThrow(/oneOf is enforced only where .*; use anyOf \(at #\/format\/json_schema\/items\/oneOf\)/);
  });
});

const VALUES = [
  null,
  true,
  0,
  1,
  2.5,
  'a',
  '',
  [],
  [1],
  {},
  { a: 1 },
  { a: 'a' },
  { a: 2.5, b: null },
  { b: 'a' },
];
const schemas = fc.letrec<{ schema: object }>(tie => ({
  schema: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom(
      {},
      { type: ['string', 'integer'] },
      { type: 'number' },
      { $ref: '#/$defs/0' },
      { $ref: '#/$defs/1' },
    ),
    fc.subarray([...VALUES], { minLength: 1, maxLength: 3 }).map(values => ({ enum: values })),
    fc.constantFrom(...VALUES.slice(0, 8)).map(value => ({ const: value })),
    fc
      .tuple(fc.constantFrom('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'), fc.nat(3))
      .map(([keyword, bound]) => ({ type: 'number', [keyword]: bound })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 2 }).map(anyOf => ({ anyOf })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 2 }).map(allOf => ({ allOf })),
    fc
      .record({
        properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema')),
        required: fc.subarray(['a', 'b']),
      })
      .map(({ properties, required }) => ({ type: 'object', properties: { ...properties }, required })),
  ),
}));

describe('schemas with a proof that no value fits two of them', () => {
  it('share no value', () => {
    let provenCount = 0;
    fc.assert(
      fc.property(schemas.schema, schemas.schema, schemas.schema, (one, other, definition) => {
        const $defs = {
          0: definition,
          1: { type: 'object', properties: { a: { const: 1 } }, required: ['a'] },
        };
        if (JSON.stringify(definition).includes('"#/$defs/0"')) return;
        if (!arePairwiseDisjoint([one, other] as never, $defs as never)) return;
        provenCount++;
        for (const value of VALUES)
          expect([one, other].every(schema => judge({ ...schema, $defs }, value).isValid)).toBe(false);
      }),
      { numRuns: runs({ daily: 150, full: 400 }) },
    );
    expect(provenCount).toBeGreaterThan(20);
  });
});
