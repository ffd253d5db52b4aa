import type { JsonValue } from '@ortler/json';
import { describe, expect, it } from 'vitest';
import { SchemaReferences } from './resolve-ref.ts';

function resolve(document: JsonValue, reference: string): JsonValue | undefined {
  const references = new SchemaReferences(document);
  return references.resolve(reference, references.root.base)?.schema;
}

const FOUND = { const: 'found' };

describe('references', () => {
  it.each<[string, JsonValue, string]>([
    ['a pointer', { $defs: { a: FOUND } }, '#/$defs/a'],
    ['a pointer with escapes', { $defs: { 'a/b~c': FOUND } }, '#/$defs/a~1b~0c'],
    ['a pointer with percent signs', { $defs: { 'a b': FOUND } }, '#/$defs/a%20b'],
    ['a pointer into a list', { anyOf: [true, FOUND] }, '#/anyOf/1'],
    ['an anchor', { $defs: { a: { $anchor: 'here', ...FOUND } } }, '#here'],
    ['an anchor of draft 7', { definitions: { a: { $id: '#here', ...FOUND } } }, '#here'],
    ['an id', { $id: 'https://x.org/root', $defs: { a: { $id: 'item', ...FOUND } } }, 'item'],
    ['an absolute id', { $defs: { a: { $id: 'https://x.org/a', ...FOUND } } }, 'https://x.org/a'],
    [
      'a pointer behind an id',
      { $defs: { a: { $id: 'https://x.org/a', $defs: { b: FOUND } } } },
      'https://x.org/a#/$defs/b',
    ],
  ])('are resolved by %s', (_, document, reference) => {
    expect(resolve(document, reference)).toMatchObject(FOUND);
  });

  it('lead to the whole document by an empty fragment', () => {
    const document = { type: 'object' };
    expect(resolve(document, '#')).toBe(document);
  });

  it.each([
    ['#/$defs/b'],
    ['#other'],
    ['https://elsewhere.org/schema'],
    ['#/$defs/a/constructor'],
    ['#/%zz'],
  ])('to nothing in the document are null: %s', reference => {
    const references = new SchemaReferences({ $defs: { a: {} } });
    expect(references.resolve(reference, references.root.base)).toBeNull();
  });

  it('ignore ids inside data', () => {
    expect(resolve({ enum: [{ $anchor: 'here' }] }, '#here')).toBeUndefined();
  });

  it('resolve against the id that encloses them', () => {
    const inner = { $id: 'https://x.org/inner', $defs: { a: FOUND } };
    const references = new SchemaReferences({ $defs: { inner } });
    const base = references.enter(inner, references.root.base);
    expect(references.resolve('#/$defs/a', base)?.schema).toBe(FOUND);
  });
});
