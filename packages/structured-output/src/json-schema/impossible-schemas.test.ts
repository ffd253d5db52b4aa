// Schemas that no value satisfies, although the keyword at fault is checked on finished texts only: refused before anything is
// generated, and left out where a value may do without them.

import { describe, expect, it } from 'vitest';
import { allows, begins, prepare } from '../../test/feed-text.ts';

const CONFLICT = { type: 'array', items: { const: 1 }, contains: { const: 2 } };

describe('a schema that no value satisfies', () => {
  it.each([
    { not: {} },
    { not: true },
    { type: 'string', not: {} },
    CONFLICT,
    { type: 'array', items: { type: 'string' }, contains: { type: 'integer' }, minContains: 2 },
    { type: 'array', items: { type: 'integer', maximum: 3 }, contains: { minimum: 5, type: 'integer' } },
    { type: 'array', contains: { const: 2 }, maxItems: 0 },
    { type: 'object', properties: { a: CONFLICT }, required: ['a'] },
    { anyOf: [CONFLICT, { not: {} }] },
  ])('%j is refused', schema => {
    expect(() => prepare({ jsonSchema: schema })).toThrow(
      expect.objectContaining({
        code: 'invalid_constraint',
        message: expect.stringMatching(/unsatisfiable|Nothing satisfies/i),
      }),
    );
  });
});

describe('a schema that some value satisfies', () => {
  it.each([
    [{ anyOf: [CONFLICT, { type: 'integer' }] }, '7', '[1]'],
    [{ type: 'object', properties: { a: CONFLICT }, additionalProperties: false }, '{}', '{"a":[1]}'],
    [{ ...CONFLICT, minContains: 0 }, '[1]', '[2]'],
    [{ type: 'array', items: { enum: [1, 2] }, contains: { const: 2 } }, '[1,2]', '[]'],
    [{ type: ['array', 'null'], items: { const: 1 }, contains: { const: 2 } }, 'null', '[]'],
    [{ not: false, type: 'null' }, 'null', '1'],
  ])('%j allows %s and not %s', (schema, good, bad) => {
    const prepared = prepare({ jsonSchema: schema, style: { whitespace: 'none' } });
    expect([good, bad].map(text => allows(prepared, text))).toEqual([true, false]);
  });
});

describe('a part that nothing satisfies', () => {
  const EMPTY: readonly unknown[] = [
    { not: {} },
    false,
    { type: 'integer', minimum: 5, maximum: 3 },
    { type: 'integer', exclusiveMinimum: 1, exclusiveMaximum: 2 },
    { type: ['integer', 'string'], minimum: 0.2, maximum: 0.8, maxLength: 1, minLength: 2 },
    { allOf: [{ type: 'string' }, { type: 'boolean' }] },
    { type: 'string', pattern: '^a$', minLength: 2 },
    { type: 'object', properties: { x: { $ref: '#/$defs/other' } }, required: ['x'] },
    { $ref: '#/$defs/other' },
  ];
  const none = { type: 'null' };
  const members = { type: 'object', properties: { b: none } };
  const HOLDERS: Readonly<Record<string, (part: unknown) => readonly [object, string, string]>> = {
    'an optional property': a => [{ ...members, properties: { a, b: none } }, '{"b":null}', '{"a":'],
    'a property of an optional property': a => [
      { ...members, properties: { a: { properties: { a }, required: ['a'], type: 'object' }, b: none } },
      '{"b":null}',
      '{"a":',
    ],
    'a property of some types': a => [
      { type: ['object', 'null'], properties: { a }, required: ['a'] },
      'null',
      '{',
    ],
    'a branch of anyOf': a => [{ anyOf: [a, none] }, 'null', '1'],
    'a branch of oneOf': a => [{ oneOf: [a, none] }, 'null', '1'],
    items: a => [{ type: 'array', items: a }, '[]', '[1'],
    'an item that may be missing': a => [{ type: 'array', prefixItems: [none, a] }, '[null]', '[null,'],
    'additional properties': a => [{ ...members, additionalProperties: a }, '{"b":null}', '{"k":'],
    'properties of a pattern': a => [{ ...members, patternProperties: { '^k': a } }, '{"b":null}', '{"k":'],
  };
  const $defs = (part: unknown) => ({ part, other: { type: 'string', minLength: 2, maxLength: 1 } });

  it.each(Object.keys(HOLDERS))('is never written as %s', holder => {
    for (const part of EMPTY)
      for (const written of [part, { $ref: '#/$defs/part' }]) {
        const [schema, good, bad] = HOLDERS[holder]!(written);
        const prepared = prepare({
          jsonSchema: { ...schema, $defs: $defs(part) },
          style: { whitespace: 'none' },
        });
        expect(allows(prepared, good), JSON.stringify(part)).toBe(true);
        expect(begins(prepared, bad), JSON.stringify(part)).toBe(false);
      }
  });

  it('is refused with its place where it cannot be left out', () => {
    for (const part of EMPTY.slice(0, -2))
      for (const [schema, place] of [
        [{ $ref: '#/$defs/part' }, '#/$ref'],
        [{ ...members, properties: { a: { $ref: '#/$defs/part' } }, required: ['a'] }, '#/properties/a/$ref'],
      ] as const)
        expect(() => prepare({ jsonSchema: { ...schema, $defs: $defs(part) } })).toThrow(
          new RegExp(`^Nothing satisfies the schema: .* \\(at ${place.replaceAll('$', '\\$')}\\)`),
        );
  });

  it('is never written in a structural tag', () => {
    const json_schema = {
      ...members,
      properties: { a: { $ref: '#/$defs/part' }, b: none },
      additionalProperties: false,
      $defs: $defs(EMPTY[2]),
    };
    const content = { type: 'json_schema', json_schema };
    const prepared = prepare({
      structuralTag: { format: { type: 'tag', begin: '<t>', content, end: '</t>' } },
    });
    expect(allows(prepared, '<t>{"b":null}</t>')).toBe(true);
    expect(begins(prepared, '<t>{"a"')).toBe(false);
  });
});
