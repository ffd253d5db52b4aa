// Schemas that no value satisfies, although the keyword at fault is checked on finished texts only: refused before anything is
// generated, and left out where a value may do without them.

import { describe, expect, it } from 'vitest';
import { allows, prepare } from '../../test/feed-text.ts';

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
