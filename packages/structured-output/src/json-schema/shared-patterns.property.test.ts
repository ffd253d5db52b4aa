// `patternProperties` of several schemas of one value: a declared name has to fit every pattern that it matches, whichever schema
// declares it. Judged by ajv.

import fc from 'fast-check';
import { runs } from 'test-runs';
import { describe, expect, it } from 'vitest';
import { allows, prepare } from '../../test/feed-text.ts';
import { judge } from '../../test/independent-validator.ts';

const VALUES = [
  { type: 'integer' },
  { type: ['integer', 'string'] },
  { minimum: 3 },
  { enum: [1, 'x', 5] },
  { $ref: '#/$defs/value' },
];
const NAMES = ['ab', 'a', 'b', 'cd'];
const value = fc.constantFrom(...VALUES);
const plain = fc.record(
  {
    properties: fc.dictionary(fc.constantFrom(...NAMES), value, { maxKeys: 2 }),
    patternProperties: fc.dictionary(fc.constantFrom('^a', 'b$', '^[ab]+$', 'd'), value, { maxKeys: 2 }),
  },
  { requiredKeys: [] },
);
const group = fc.letrec<{ part: object }>(tie => ({
  part: fc.oneof(
    { maxDepth: 2 },
    plain,
    fc.constant({ $ref: '#/$defs/object' }),
    fc
      .tuple(plain, fc.array(tie('part'), { minLength: 1, maxLength: 2 }))
      .map(([own, allOf]) => ({ ...own, allOf })),
  ),
})).part;

describe('patterns of several schemas of a value', () => {
  it('hold for the names that any of these schemas declares', () => {
    let invalidCount = 0;
    fc.assert(
      fc.property(
        group,
        plain,
        fc.array(fc.constantFrom(1, 5, 'x', null), { minLength: 4, maxLength: 4 }),
        (part, object, values) => {
          const declared = { properties: Object.fromEntries(NAMES.map(name => [name, {}])) };
          const schema = {
            type: 'object',
            allOf: [part, declared],
            $defs: { value: { maximum: 4 }, object },
          };
          const prepared = prepare({ jsonSchema: schema });
          for (const [i, name] of NAMES.entries()) {
            const text = JSON.stringify({ [name]: values[i] });
            const { isValid } = judge(schema, JSON.parse(text));
            if (!isValid) invalidCount++;
            expect(allows(prepared, text), `${text} of ${JSON.stringify(schema)}`).toBe(isValid);
          }
        },
      ),
      { numRuns: runs({ daily: 50, full: 300 }) },
    );
    expect(invalidCount).toBeGreaterThan(10);
  });

  it('that overlap are checked in the finished text for other names, and refused under strict', () => {
    const schema = {
      type: 'object',
      properties: { ab: {} },
      allOf: [
        { patternProperties: { '^a': { type: 'integer' } } },
        { patternProperties: { b$: { minimum: 3 } } },
      ],
    };
    const prepared = prepare({ jsonSchema: schema });
    expect(['{"ab":3}', '{"ab":1}', '{"ab":"x"}'].map(text => allows(prepared, text))).toEqual([
      true,
      false,
      false,
    ]);
    expect(allows(prepared, '{"aab":1}')).toBe(true);
    expect(prepared.check).not.toBeNull();
    expect(() => prepare({ jsonSchema: schema, strict: true })).toThrow(
      /patternProperties cannot be enforced/,
    );
  });
});
