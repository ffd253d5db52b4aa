// The form of JSON: narrowed masks against acceptance token by token, and models that would write without an end.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isCanonical } from '../../test/canonical-layout.ts';
import { demoEngine, demoVocabulary } from '../../test/demo-vocabulary.ts';
import { prepare } from '../../test/feed-text.ts';
import { generate } from '../../test/random-generation.ts';
import type { ConstraintMatcher } from '../constraint.ts';
import type { ConstraintSpec, JsonWhitespace } from '../constraint-spec.ts';
import { GAP_PATTERN } from './gap-rules.ts';

const SCHEMA = {
  type: 'object',
  properties: { a: { type: 'array', items: { type: ['integer', 'null'] } }, 'b c': { type: 'string' } },
  required: ['a', 'b c'],
  additionalProperties: { type: 'boolean' },
};
const SPECS: readonly ConstraintSpec[] = [{ jsonSchema: SCHEMA }, { jsonSchema: {} }, { jsonObject: true }];
const BOUNDED: readonly ConstraintSpec[] = [
  { jsonSchema: SCHEMA, style: { whitespace: 'bounded' } },
  { jsonObject: true, style: { whitespace: 'bounded' } },
];
const TAG = {
  format: { type: 'tag', begin: '<a>', content: { type: 'json_schema', json_schema: SCHEMA }, end: '</a>' },
};

const textOf = (ids: readonly number[]) =>
  Buffer.concat(
    ids.map(id => demoVocabulary.bytes.subarray(demoVocabulary.offsets[id], demoVocabulary.offsets[id + 1])),
  ).toString();

function allowed(matcher: ConstraintMatcher): number[] {
  const mask = new Uint32Array(demoEngine.maskWordCount);
  matcher.fillMask(mask);
  return Array.from({ length: demoVocabulary.columnCount }, (_, id) => id).filter(
    id => (mask[id >>> 5]! >>> (id & 31)) & 1,
  );
}

/** What stands between the strings and other parts. */
function gapsOf(text: string): readonly string[] {
  return text.replace(/"(?:[^"\\]|\\.)*("|$)/g, '""').match(/\s+/g) ?? [];
}

describe('the form of JSON', () => {
  it('is in the mask what is accepted, and can be taken back', { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(
        fc.constantFrom<ConstraintSpec>(...SPECS, ...BOUNDED, { structuralTag: TAG }),
        fc.array(fc.nat(), { maxLength: 12 }),
        (spec, choices) => {
          const { grammar } = prepare(spec);
          const matcher = demoEngine.compile(grammar);
          const taken: number[] = [];
          for (const choice of choices) {
            const ids = allowed(matcher);
            for (let id = choice % 97; id < demoVocabulary.columnCount; id += 97)
              expect(matcher.countFitting([id]) === 1, textOf([id])).toBe(ids.includes(id));
            const next = ids[choice % ids.length]!;
            expect(matcher.accept(next)).toBe(true);
            taken.push(next);
            if (demoVocabulary.eosTokenIds.includes(next)) break;
          }
          const back = Math.min(2, taken.length);
          matcher.rollback(back);
          const fresh = demoEngine.compile(grammar);
          for (const id of taken.slice(0, taken.length - back)) expect(fresh.accept(id)).toBe(true);
          expect(allowed(matcher)).toEqual(allowed(fresh));
          const fork = fresh.fork();
          expect(allowed(fork)).toEqual(allowed(matcher));
          expect(fork.countFitting(taken.slice(taken.length - back))).toBe(back);
          for (const each of [matcher, fresh, fork]) each.dispose();
        },
      ),
      { numRuns: 30 },
    );
  });

  it('is one canonical layout', { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(fc.constantFrom(...SPECS), fc.nat(), (spec, seed) => {
        const { text } = generate(prepare(spec).grammar, seed, 80);
        expect(isCanonical(text), JSON.stringify(text)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  it('has small gaps inside tags, and everywhere where white space is bounded', { timeout: 60_000 }, () => {
    const gap = new RegExp(`^${GAP_PATTERN}$`);
    fc.assert(
      fc.property(
        fc.constantFrom<ConstraintSpec>(...BOUNDED, { structuralTag: TAG }),
        fc.nat(),
        (spec, seed) => {
          const { text } = generate(prepare(spec).grammar, seed, 60);
          for (const each of gapsOf(text)) expect(each).toMatch(gap);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('lets a model that prefers blanks to everything else come to its end', { timeout: 60_000 }, () => {
    const matcher = demoEngine.compile(
      prepare({
        jsonSchema: { type: 'array', items: { const: 1 }, minItems: 3, maxItems: 3 },
      }).grammar,
    );
    const taken: number[] = [];
    while (!matcher.mustStop() && taken.length < 400) {
      const ids = allowed(matcher).filter(id => !demoVocabulary.eosTokenIds.includes(id));
      const blank = ids.find(id => /^\s+$/.test(textOf([id])));
      if (blank === undefined && matcher.canStop()) break;
      taken.push(blank ?? ids[0]!);
      expect(matcher.accept(taken.at(-1)!)).toBe(true);
    }
    expect(JSON.parse(textOf(taken))).toEqual([1, 1, 1]);
    matcher.dispose();
  });

  it('is written by hand as callers wish', () => {
    const [value] = [{ a: [1, null], 'b c': ' \n\n\n ' }];
    const fits = (text: string, spec = SPECS[0]!) => {
      const matcher = demoEngine.compile(prepare(spec).grammar);
      const ids = [...Buffer.from(text)].map(byte =>
        Array.from({ length: 2560 }, (_, id) => id).find(id => textOf([id]) === String.fromCharCode(byte)),
      );
      const fitting = matcher.countFitting(ids as number[]);
      matcher.dispose();
      return fitting === text.length;
    };
    const styled = (whitespace: JsonWhitespace) => ({ jsonSchema: SCHEMA, style: { whitespace } });
    for (const indent of [undefined, 1, 2, 4, '\t'])
      for (const spec of [SPECS[0]!, BOUNDED[0]!])
        expect(fits(JSON.stringify(value, null, indent), spec)).toBe(true);
    expect(fits('{"a": [1, null], "b c": "  "}')).toBe(true);
    expect(fits('{\n  "a": [1, null],\n  "b c": "  "\n}')).toBe(true);
    for (const text of [
      '{"a": [1 ,',
      '{"a" :',
      '{"a":  [1]',
      '{"a": [1,2',
      '{\n  "a": [1],\n"b',
      '{\n  "a": [1], ',
    ]) {
      expect(fits(text), text).toBe(false);
      expect(fits(text, styled('any')), text).toBe(true);
    }
    expect(fits('{"a" : [1 ,2],', styled('bounded'))).toBe(true);
    expect(fits('{"a":  [1]', styled('bounded'))).toBe(false);
    expect(fits('{"a": [1]', styled('none'))).toBe(false);
  });
});
