// Keywords that llguidance takes alone and not together: enforced, or checked in the finished text; never a dead end, never a
// refusal.

import { expect, it } from 'vitest';
import { allows, byteEngine, prepare } from '../../test/feed-text.ts';
import { checkFinishedText } from './check-finished-text.ts';

const integer = { type: 'integer' };
const none = { type: 'null' };
const prepared = (jsonSchema: object, strict = false) =>
  prepare({ jsonSchema, strict, style: { whitespace: 'none' } });

/** Allowed by the grammar and the check of finished texts. */
function passes(schema: object, text: string): boolean {
  const constraint = prepared(schema);
  if (!allows(constraint, text)) return false;
  try {
    if (constraint.check !== null) checkFinishedText(constraint.check, text);
    return true;
  } catch {
    return false;
  }
}

it.each([
  [
    { propertyNames: { enum: ['a', 'b'] }, additionalProperties: integer, required: ['a', 'b'] },
    '{"a":1,"b":2}',
  ],
  [
    { properties: { a: none }, patternProperties: { '^a$': none }, additionalProperties: false },
    '{"a":null}',
  ],
  [
    { properties: { a: none, b: none }, patternProperties: { '^[ab]$': none }, additionalProperties: false },
    '{"a":null,"b":null}',
  ],
  [{ patternProperties: { '^a$': integer }, additionalProperties: false, required: ['a'] }, '{"a":1}'],
])('%j has no comma where no name is left', (keywords, text) => {
  for (const strict of [false, true]) {
    const constraint = prepared({ type: 'object', ...keywords }, strict);
    expect(allows(constraint, text)).toBe(true);
    const matcher = byteEngine.compile(constraint.grammar);
    for (const byte of Buffer.from(text.slice(0, -1))) expect(matcher.accept(byte)).toBe(true);
    expect(matcher.accept(','.charCodeAt(0))).toBe(false);
    matcher.dispose();
  }
});

it.each([
  ['an enum that a reference leads to', { $ref: '#/$defs/colour' }, '{"red":1}', '{"blue":1}'],
  ['a chain of references', { $ref: '#/$defs/tint', title: 'Tint' }, '{"grün":1}', '{"":1}'],
  ['a format', { format: 'date' }, '{"2024-02-29":1}', '{"2023-02-29":1}'],
  [
    'another format',
    { format: 'uuid' },
    `{"${'0'.repeat(8)}-0000-0000-0000-${'0'.repeat(12)}":1}`,
    '{"0":1}',
  ],
])('names of %s are enforced', (_, propertyNames, good, bad) => {
  const schema = {
    type: 'object',
    propertyNames,
    additionalProperties: integer,
    $defs: {
      colour: { type: 'string', enum: ['red', 'grün'], description: 'As Pydantic writes an Enum.' },
      tint: { $ref: '#/$defs/colour' },
    },
  };
  const constraint = prepared(schema, true);
  expect([good, '{}', bad].map(text => allows(constraint, text))).toEqual([true, true, false]);
});

it('names of a list come once each', () => {
  const schema = { type: 'object', propertyNames: { enum: ['a', 'b'] }, additionalProperties: integer };
  const constraint = prepared(schema, true);
  const texts = ['{}', '{"b":1}', '{"a":1,"b":2}', '{"a":1,"a":2}', '{"b":1,"b":2}'];
  expect(texts.map(text => allows(constraint, text))).toEqual([true, true, true, false, false]);
  for (const count of [{ minProperties: 2 }, { maxProperties: 1 }])
    expect(allows(prepared({ ...schema, ...count }, true), '{"a":1}')).toBe('maxProperties' in count);
});

it.each([{ type: 'string' }, { title: 'Name' }, { $ref: '#/$defs/text' }])(
  'names of %j are any names, as Zod writes a record',
  propertyNames => {
    const schema = { type: 'object', propertyNames, $defs: { text: { type: 'string' } } };
    const constraint = prepared({ ...schema, additionalProperties: integer }, true);
    expect(constraint.check).toBeNull();
    expect(['{"a b":1}', '{"a":""}'].map(text => allows(constraint, text))).toEqual([true, false]);
  },
);

it('names of a reference that leads nowhere, or to itself, are left to the check of the finished text', () => {
  for (const propertyNames of [{ $ref: '#/$defs/none' }, { $ref: '#/$defs/own' }]) {
    const schema = { type: 'object', propertyNames, $defs: { own: { $ref: '#/$defs/own' } } };
    expect(prepared(schema).check).not.toBeNull();
  }
});

it('required names that a pattern matches have its schema, others are allowed by it as before', () => {
  const schema = {
    type: 'object',
    patternProperties: { '^[abc]$': integer },
    additionalProperties: false,
    required: ['b'],
  };
  expect(['{"b":1,"c":2}', '{"b":1}'].map(text => passes(schema, text))).toEqual([true, true]);
  expect(['{"c":2}', '{"b":null}', '{"b":1,"d":2}'].map(text => passes(schema, text))).toEqual([
    false,
    false,
    false,
  ]);
});

it.each([
  [{ allOf: [{ properties: { a: integer } }, { minProperties: 1 }] }, '{"a":1}', '{}'],
  [
    { $ref: '#/$defs/q', maxProperties: 1, $defs: { q: { properties: { a: integer, b: integer } } } },
    '{"b":1}',
    '{"a":1,"b":2}',
  ],
  [
    { properties: { next: { allOf: [{ $ref: '#' }, { required: ['id'] }] }, id: integer } },
    '{"next":{"id":1}}',
    '{"next":{}}',
  ],
  [
    { properties: { a: { $ref: '#' } }, patternProperties: { '^a$': { minProperties: 1 } } },
    '{"a":{"b":1}}',
    '{"a":{}}',
  ],
])('counts and references in parts of one value are checked: %j', (keywords, good, bad) => {
  const schema = { type: 'object', ...keywords };
  expect([good, bad].map(text => passes(schema, text))).toEqual([true, false]);
});

it('properties of a pattern are held to the additionalProperties of another part', () => {
  const schema = {
    type: 'object',
    additionalProperties: false,
    dependentSchemas: { b: { patternProperties: { '^[ab]$': { type: 'boolean' } } } },
  };
  expect(['{}', '{"b":true}'].map(text => passes(schema, text))).toEqual([true, false]);
});

it('an item of `contains` is found possible although its oneOf is not proved', () => {
  const oneOf = [{ properties: { a: integer } }, { properties: { b: integer }, required: ['b'] }];
  const schema = { type: 'array', items: { type: 'object', oneOf }, contains: { type: 'object' } };
  expect(passes(schema, '[{"a":1}]')).toBe(true);
});
