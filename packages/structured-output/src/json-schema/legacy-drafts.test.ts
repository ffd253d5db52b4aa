import { describe, expect, it } from 'vitest';
import { isLegacyDraft, readDependencies, readTuple, rewriteExclusiveBounds } from './legacy-drafts.ts';

describe('keywords of older drafts', () => {
  it.each([
    ['http://json-schema.org/draft-07/schema#', true],
    ['http://json-schema.org/draft-03/schema', true],
    ['https://json-schema.org/draft/2020-12/schema', false],
    [undefined, false],
  ])('belong to the draft that $schema names: %s', ($schema, isLegacy) => {
    expect(isLegacyDraft($schema === undefined ? {} : { $schema })).toBe(isLegacy);
  });

  it.each([
    [
      { items: [true], additionalItems: false },
      { prefixItems: [true], items: false },
    ],
    [{ items: [true] }, { prefixItems: [true] }],
    [
      { items: { type: 'null' }, additionalItems: false },
      { items: { type: 'null' }, additionalItems: false },
    ],
  ])('list tuples under items: %j', (schema, rewritten) => {
    expect(readTuple(schema)).toEqual(rewritten);
  });

  it.each([
    [{ minimum: 1, exclusiveMinimum: true }, { exclusiveMinimum: 1 }],
    [{ minimum: 1, exclusiveMinimum: false }, { minimum: 1 }],
    [{ exclusiveMaximum: true }, {}],
    [
      { maximum: 2, exclusiveMaximum: true, minimum: 0 },
      { exclusiveMaximum: 2, minimum: 0 },
    ],
    [{ exclusiveMinimum: 3 }, { exclusiveMinimum: 3 }],
  ])('make bounds exclusive by a flag: %j', (schema, rewritten) => {
    expect(rewriteExclusiveBounds(schema)).toEqual(rewritten);
  });

  it('mix names and schemas in dependencies', () => {
    const schema = { dependencies: { a: ['b'], c: { type: 'null' } }, dependentRequired: { d: ['e'] } };
    expect(readDependencies(schema)).toEqual({
      required: [
        ['d', ['e']],
        ['a', ['b']],
      ],
      schemas: [['c', { type: 'null' }]],
    });
  });
});
