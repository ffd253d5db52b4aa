// Schemas and grammars that refer to themselves: those without any end are refused before anything is generated, and the
// others allow every value that ends. The judge looks for values itself, to a depth after which nothing new comes.

import type { JsonValue } from '@ortler/json';
import fc from 'fast-check';
import { runs } from 'test-runs';
import { describe, expect, it } from 'vitest';
import { allows, prepare } from '../../test/feed-text.ts';

const NAMES = ['a', 'b', 'c'];
const RUNS = runs({ daily: 40, full: 100 });

type Part =
  | { readonly kind: 'end' }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'object'; readonly needed: readonly Part[]; readonly free: Part }
  | { readonly kind: 'list'; readonly item: Part; readonly minItems: number }
  | { readonly kind: 'any'; readonly parts: readonly Part[] };

const parts = fc.letrec<{ part: Part }>(tie => ({
  part: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom(...NAMES).map((name): Part => ({ kind: 'name', name })),
    fc.constant<Part>({ kind: 'end' }),
    fc
      .tuple(fc.array(tie('part'), { maxLength: 2 }), tie('part'))
      .map(([needed, free]): Part => ({ kind: 'object', needed, free })),
    fc.tuple(tie('part'), fc.nat(2)).map(([item, minItems]): Part => ({ kind: 'list', item, minItems })),
    fc.array(tie('part'), { minLength: 1, maxLength: 2 }).map((list): Part => ({ kind: 'any', parts: list })),
  ),
})).part;

function toSchema(part: Part): object {
  switch (part.kind) {
    case 'end':
      return { type: 'null' };
    case 'name':
      return { $ref: `#/$defs/${part.name}` };
    case 'object':
      return {
        type: 'object',
        properties: {
          ...Object.fromEntries(part.needed.map((each, i) => [`n${i}`, toSchema(each)])),
          free: toSchema(part.free),
        },
        required: part.needed.map((_, i) => `n${i}`),
        additionalProperties: false,
      };
    case 'list':
      return { type: 'array', items: toSchema(part.item), minItems: part.minItems, maxItems: 2 };
    case 'any':
      return { anyOf: part.parts.map(toSchema) };
  }
}

/** A value of the part that follows at most `depth` names; undefined when there is none. */
function findValue(part: Part, rules: ReadonlyMap<string, Part>, depth: number): JsonValue | undefined {
  const of = (each: Part) => findValue(each, rules, depth);
  switch (part.kind) {
    case 'end':
      return null;
    case 'name':
      return depth === 0 ? undefined : findValue(rules.get(part.name)!, rules, depth - 1);
    case 'object': {
      const needed = part.needed.map(of);
      if (needed.includes(undefined)) return undefined;
      const entries = needed.map((value, i): [string, JsonValue] => [`n${i}`, value!]);
      const free = of(part.free);
      return Object.fromEntries(free === undefined ? entries : [...entries, ['free', free]]);
    }
    case 'list': {
      const item = of(part.item);
      if (item === undefined) return part.minItems === 0 ? [] : undefined;
      return Array<JsonValue>(part.minItems).fill(item);
    }
    case 'any':
      return part.parts.map(of).find(value => value !== undefined);
  }
}

describe('schemas that refer to themselves', () => {
  it('are refused exactly when no value ends, and allow the values that do', { timeout: 600_000 }, () => {
    let refused = 0;
    fc.assert(
      fc.property(fc.array(parts, { minLength: 3, maxLength: 3 }), ([a, b, c]) => {
        const rules = new Map([a!, b!, c!].map((part, i) => [NAMES[i]!, part]));
        const $defs = Object.fromEntries([...rules].map(([name, part]) => [name, toSchema(part)]));
        const schema = { $ref: '#/$defs/a', $defs };
        const value = findValue(a!, rules, NAMES.length);
        if (value === undefined) {
          refused++;
          expect(() => prepare({ jsonSchema: schema })).toThrow(
            /contains itself without an end|refers to itself without an end/,
          );
        } else if (!refersToItselfAtOnce(rules)) {
          const prepared = prepare({ jsonSchema: schema });
          expect(allows(prepared, JSON.stringify(value)), JSON.stringify(value)).toBe(true);
        }
      }),
      { numRuns: RUNS },
    );
    expect(refused).toBeGreaterThan(0);
  });

  it.each([
    [{ type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }, '#/properties/a/$ref'],
    [{ type: 'array', items: { $ref: '#' }, minItems: 1 }, '#/items/$ref'],
    [{ type: 'object', required: ['x'], additionalProperties: { $ref: '#' } }, '#/additionalProperties/$ref'],
    [{ type: 'array', prefixItems: [{ type: 'null' }, { $ref: '#' }], minItems: 2 }, '#/prefixItems/1/$ref'],
  ])('%j is refused at %s', (schema, place) => {
    expect(() => prepare({ jsonSchema: schema })).toThrow(`without an end (at ${place}).`);
  });

  it.each([
    [{ type: 'object', properties: { a: { $ref: '#' } } }, { a: { a: {} } }],
    [{ properties: { a: { $ref: '#' } }, required: ['a'] }, { a: 1 }],
    [{ type: ['object', 'null'], properties: { a: { $ref: '#' } }, required: ['a'] }, { a: { a: null } }],
    [{ type: 'array', items: { $ref: '#' } }, [[], [[]]]],
  ])('%j is served', (schema, value) => {
    expect(allows(prepare({ jsonSchema: schema }), JSON.stringify(value))).toBe(true);
  });
});

describe('grammars that refer to themselves', () => {
  it.each([
    ['root ::= "a" root', 'rule root'],
    ['root ::= "a" b\nb ::= "x" c\nc ::= b | c "y"', 'rule b'],
    ['root ::= a+\na ::= ("x" | "y") a', 'rule a'],
  ])('%j is refused at %s', (text, place) => {
    expect(() => prepare({ grammar: text })).toThrow(`(at grammar, ${place})`);
  });

  it('lose the alternatives that have no end', () => {
    const prepared = prepare({
      grammar: 'root ::= "a" b | "c" d* \nb ::= "x" b\nd ::= d "y" | b',
    });
    expect(['c', 'ax', 'cx', ''].map(text => allows(prepared, text))).toEqual([true, false, false, false]);
    expect(prepared.grammar.text).not.toContain('x');
  });
});

/** Whether a name leads back to itself before anything is read, which is refused wherever it stands. */
function refersToItselfAtOnce(rules: ReadonlyMap<string, Part>): boolean {
  const reaches = (part: Part, wanted: string, seen: ReadonlySet<string>): boolean => {
    if (part.kind === 'any') return part.parts.some(each => reaches(each, wanted, seen));
    if (part.kind !== 'name') return false;
    if (part.name === wanted) return true;
    return !seen.has(part.name) && reaches(rules.get(part.name)!, wanted, new Set([...seen, part.name]));
  };
  return [...rules].some(([name, part]) => reaches(part, name, new Set()));
}
