import { describe, expect, it } from 'vitest';
import { allows, prepare } from '../../test/feed-text.ts';

const string = { type: 'string' };
const A = { type: 'object', properties: { a: string }, required: ['a'] };
const B = { type: 'object', properties: { b: string }, required: ['b'] };

function allowsStrict(schema: unknown, value: unknown, strict = true): boolean {
  return allows(prepare({ jsonSchema: schema, strict }), JSON.stringify(value));
}

describe('an object that says nothing of additional properties', () => {
  const nested = { type: 'object', properties: { list: { type: 'array', items: A } }, required: ['list'] };

  it('is closed under strict, at any depth, and open without it', () => {
    for (const [schema, closed, open] of [
      [A, { a: 'x' }, { a: 'x', z: 1 }],
      [nested, { list: [{ a: 'x' }] }, { list: [{ a: 'x', z: 1 }] }],
      [{ $ref: '#/$defs/a', $defs: { a: A } }, { a: 'x' }, { a: 'x', z: 1 }],
      [{ anyOf: [A, B] }, { b: 'x' }, { b: 'x', z: 1 }],
      [{ type: 'object', patternProperties: { '^k': string } }, { k: 'x' }, { z: 'x' }],
    ] as const) {
      expect(allowsStrict(schema, closed)).toBe(true);
      expect(allowsStrict(schema, open)).toBe(false);
      expect(allowsStrict(schema, open, false)).toBe(true);
    }
  });

  it('is closed by its style in either case', () => {
    const isOpen = (strict: boolean, closeObjects: boolean) =>
      allows(prepare({ jsonSchema: A, strict, style: { closeObjects } }), '{"a":"x","z":1}');
    expect([isOpen(false, true), isOpen(true, false)]).toEqual([false, true]);
  });

  it('stays open where it declares no properties, or allows others itself', () => {
    for (const schema of [
      { type: 'object' },
      { ...A, additionalProperties: true },
      { ...A, additionalProperties: { type: 'integer' } },
    ])
      expect(allowsStrict(schema, { a: 'x', z: 1 })).toBe(true);
  });

  it('keeps the properties of all its parts', () => {
    for (const schema of [
      { allOf: [A, B] },
      { ...A, allOf: [B] },
      { ...A, $ref: '#/$defs/b', $defs: { b: B } },
      { ...A, anyOf: [B, { type: 'object', properties: { c: string } }] },
      { $ref: '#/$defs/both', $defs: { both: { allOf: [{ $ref: '#/$defs/a' }, B] }, a: A } },
    ])
      expect(allowsStrict(schema, { a: 'x', b: 'y' }), JSON.stringify(schema)).toBe(true);
  });

  it('is closed or not by the place that refers to it', () => {
    const schema = {
      type: 'object',
      properties: { alone: { $ref: '#/$defs/a' }, part: { allOf: [{ $ref: '#/$defs/a' }, B] } },
      required: ['alone', 'part'],
      $defs: { a: A },
    };
    expect(allowsStrict(schema, { alone: { a: 'x' }, part: { a: 'x', b: 'y' } })).toBe(true);
    expect(allowsStrict(schema, { alone: { a: 'x', b: 'y' }, part: { a: 'x', b: 'y' } })).toBe(false);
  });

  it('has the properties that it requires without declaring them', () => {
    const schema = { type: 'object', properties: { a: string }, required: ['a', 'z'] };
    expect(allowsStrict(schema, { a: 'x', z: 1 })).toBe(true);
    expect(allowsStrict(schema, { a: 'x', z: 1, y: 1 })).toBe(false);
  });

  it('is closed beside alternatives that only require properties', () => {
    const properties = { a: string, b: string };
    const schema = { type: 'object', properties, anyOf: [{ required: ['a'] }, { required: ['b'] }] };
    expect(allowsStrict(schema, { b: 'x' })).toBe(true);
    expect(allowsStrict(schema, { b: 'x', z: 1 })).toBe(false);
  });

  it('stays open where it needs more properties than it declares', () => {
    expect(allowsStrict({ ...A, minProperties: 2 }, { a: 'x', z: 1 })).toBe(true);
  });
});
