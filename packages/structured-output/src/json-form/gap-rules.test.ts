import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonForm } from '../json-form.ts';
import { GAP_PATTERN, type Gap, NO_GAP, widenBoundedGap } from './gap-rules.ts';
import { JsonReader, readerStart } from './json-reader.ts';

/** Whether a reader reads the whole text. */
function reads(text: string, layout: JsonForm['layout']): boolean {
  const reader = new JsonReader({ layout, numbers: null, guardsRepetition: false }, null);
  reader.load(readerStart(null), false, null);
  return [...Buffer.from(text)].every(byte => reader.read(byte));
}

const gaps = fc.string({ unit: fc.constantFrom(' ', '\n', '\t', '\r'), maxLength: 4 });
const indents = fc
  .tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 17, max: 22 }), fc.constantFrom(' ', '\t'))
  .map(([lineEnds, length, blank]) => '\n'.repeat(lineEnds) + blank.repeat(length));
const values = fc.jsonValue({ maxDepth: 3 }).map(value => (typeof value === 'object' ? value : [value]));
const layouts = fc.constantFrom<number | string>(0, 1, 2, 3, 4, 8, '\t');

describe('the bounded layout', () => {
  it('has exactly the gaps of its pattern', () => {
    const pattern = new RegExp(`^${GAP_PATTERN}$`);
    fc.assert(
      fc.property(fc.oneof(gaps, indents), text => {
        let gap: Gap | null = NO_GAP;
        for (const character of text) gap &&= widenBoundedGap(gap, character);
        expect(gap !== null, JSON.stringify(text)).toBe(pattern.test(text));
        expect(reads(`[${text}`, 'bounded'), JSON.stringify(text)).toBe(pattern.test(text));
      }),
      { numRuns: 500 },
    );
  });

  it('counts anew after every other byte, and not inside strings', () => {
    expect(reads('[ 1 , 2 ]', 'bounded')).toBe(true);
    expect(reads('"  \\"  \n\n\n "', 'bounded')).toBe(true);
    expect(reads('"\\\\"  ', 'bounded')).toBe(false);
  });
});

describe('the canonical layout', () => {
  it('has room for all that JSON.stringify writes, with and without an indent', () => {
    fc.assert(
      fc.property(values, layouts, (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(reads(text, 'canonical'), text).toBe(true);
        expect(reads(`\n\n${text}`, 'canonical'), text).toBe(true);
      }),
    );
  });

  it('has room for one line with spaces, and for lists on one line of indented objects', () => {
    expect(reads('{"a": [1, {"b": []}], "c": {}}', 'canonical')).toBe(true);
    expect(reads('{\n  "a": [1, {"b": []}],\n  "c": {}\n}', 'canonical')).toBe(true);
    expect(reads('{\n"a": [1, 2],\n"c": {\n"d": 1\n}\n}', 'canonical')).toBe(true);
  });

  it('has no other gap: one more or less of any character breaks it', () => {
    fc.assert(
      fc.property(values, layouts, fc.nat(), fc.constantFrom(' ', '\n', '\t'), (value, indent, at, blank) => {
        const text = JSON.stringify(value, null, indent);
        // Places outside strings after the first two members, where the layout is decided.
        const places = [...text.replace(/"(?:[^"\\]|\\.)*"/g, match => 'x'.repeat(match.length))]
          .map((character, place) => ({ character, place }))
          .filter(({ character, place }) => character === ',' && text.slice(0, place).includes(':'));
        const place = places[at % places.length]?.place;
        if (place === undefined) return;
        expect(reads(`${text.slice(0, place)}${blank}${text.slice(place)}`, 'canonical'), text).toBe(false);
      }),
    );
  });
});
