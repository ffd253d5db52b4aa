// The judge of generated texts must itself be right where ajv alone is not, and our own check as well.

import type { JsonValue } from '@ortler/json';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { judge } from '../../test/independent-validator.ts';
import { findViolation } from './find-violation.ts';

const integers = { contains: { type: 'integer' } };
/** Schemas with values: an empty list comes after one that has what is asked for, and before it. */
const CASES: readonly (readonly [schema: object, value: JsonValue, isValid: boolean])[] = [
  [{ items: integers }, [[5], []], false],
  [{ items: integers }, [[5], ['x']], false],
  [{ items: integers }, [[], [5]], false],
  [{ items: integers }, [[5], [6]], true],
  [{ items: { anyOf: [integers, { type: 'string' }] } }, [[5], []], false],
  [{ items: { $ref: '#/$defs/a' }, $defs: { a: integers } }, [[5], []], false],
  [{ additionalProperties: integers }, { a: [5], b: [] }, false],
  [
    { items: { contains: { type: ['null', 'integer'] }, items: { not: { type: 'boolean' } } } },
    [[5], []],
    false,
  ],
  [{ items: { ...integers, minContains: 1 } }, [[5], []], false],
  [{ items: { ...integers, minContains: 2 } }, [[5, 6], []], false],
  [{ items: { ...integers, maxContains: 1 } }, [[5], []], false],
  [{ items: { ...integers, minContains: 0 } }, [[5], []], true],
  [{ items: { not: integers } }, [[], []], true],
  [{ items: { not: integers } }, [[], [5]], false],
  // Names and values that look like the keyword.
  [{ properties: { contains: { type: 'null' } }, additionalProperties: false }, { contains: null }, true],
  [{ properties: { contains: { type: 'null' } }, additionalProperties: false }, { minItems: 1 }, false],
  [{ const: { contains: 1 } }, { contains: 1 }, true],
];

describe('lists that must contain an item', () => {
  it.each(CASES)(
    '%j with %j is valid: %j, for the judge and for the check of finished texts',
    (schema, value, isValid) => {
      expect(judge(schema, value).isValid).toBe(isValid);
      expect(findViolation(schema as JsonValue, value) === null).toBe(isValid);
    },
  );

  it('are the reason why ajv is not asked directly', () => {
    expect(new Ajv2020({ strict: false }).validate({ items: integers }, [[5], []])).toBe(true);
  });
});
