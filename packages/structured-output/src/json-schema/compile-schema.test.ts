// Combinations of keywords that llguidance refuses: what it cannot enforce is checked in the finished text.

import { describe, expect, it } from 'vitest';
import { allows, prepare } from '../../test/feed-text.ts';
import { checkFinishedText } from './check-finished-text.ts';

const list = (beside: object) => ({
  $ref: '#/$defs/list',
  $defs: {
    list: {
      type: 'object',
      properties: { next: { $ref: '#/$defs/list', ...beside }, value: { type: 'integer' } },
    },
  },
});
const integer = { type: 'integer' };

describe('a keyword beside a reference that leads back', () => {
  it('is nothing more where it is the type of the target', () => {
    const prepared = prepare({ jsonSchema: list({ type: 'object' }), strict: true });
    expect(prepared.check).toBeNull();
    expect(allows(prepared, '{"next":{"value":1}}')).toBe(true);
    expect(allows(prepared, '{"next":[]}')).toBe(false);
  });

  it('is checked in the finished text', () => {
    const prepared = prepare({ jsonSchema: list({ required: ['value'] }) });
    for (const text of ['{"next":{"value":1}}', '{"next":{}}']) expect(allows(prepared, text)).toBe(true);
    checkFinishedText(prepared.check!, '{"next":{"value":1}}');
    expect(() => checkFinishedText(prepared.check!, '{"next":{}}')).toThrow(/required/);
  });

  it('is refused with its place under strict', () => {
    expect(() => prepare({ jsonSchema: list({ required: ['value'] }), strict: true })).toThrow(
      /required cannot be enforced .*next\/required/,
    );
  });
});

describe('patterns of names that overlap in several schemas of one value', () => {
  it.each([
    { allOf: [{ patternProperties: { '^a': integer } }, { patternProperties: { b$: integer } }] },
    {
      anyOf: [{ patternProperties: { '^a': integer } }, { type: 'null' }],
      patternProperties: { b$: integer },
    },
  ])('of %j are checked in the finished text', schema => {
    const prepared = prepare({ jsonSchema: { type: 'object', ...schema } });
    for (const text of ['{"ab":1}', '{"a":1,"b":2}']) {
      expect(allows(prepared, text)).toBe(true);
      checkFinishedText(prepared.check!, text);
    }
    expect(() => checkFinishedText(prepared.check!, '{"ab":"x"}')).toThrow();
  });
});
