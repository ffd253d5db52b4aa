// The table of schemas: no text that breaks its schema ever gets through, and what is given up is listed by name.

import { describe, expect, it } from 'vitest';
import { allows, prepare } from '../../test/feed-text.ts';
import { SCHEMA_CASES, type SchemaCase } from '../../test/schema-table.ts';
import type { JsonStyle } from '../constraint-spec.ts';
import { ConstraintError } from '../errors.ts';
import { checkFinishedText } from './check-finished-text.ts';

/** Valid texts that cannot be generated: other spellings of what can be. */
const NOT_GENERATED = new Set(['integer written with a fraction of zero', 'properties out of order']);

/** Refused when every keyword must be enforced while generating. */
const REFUSED_WHEN_STRICT = [
  'minProperties with optional properties',
  'unevaluatedProperties',
  'uniqueItems',
  'contains',
  'oneOf with an overlap',
  'not',
  'if, then, else',
  'pattern with look-ahead',
];

const FREE_LAYOUT: JsonStyle = { whitespace: 'any', closeObjects: false };

/** Whether a text could reach the caller: allowed by the grammar and by the check at its end. */
function passes({ schema }: SchemaCase, text: string, strict: boolean): boolean {
  // The table is about schemas, so the layout of its texts is free.
  const prepared = prepare({ jsonSchema: schema, strict, style: FREE_LAYOUT });
  if (!allows(prepared, text)) return false;
  if (prepared.check === null) return true;
  try {
    checkFinishedText(prepared.check, text);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'unsatisfied' });
    return false;
  }
}

function isRefused(schemaCase: SchemaCase, strict: boolean): boolean {
  try {
    prepare({ jsonSchema: schemaCase.schema, strict });
    return false;
  } catch (error) {
    expect(error).toBeInstanceOf(ConstraintError);
    return true;
  }
}

describe('the table of schemas', () => {
  it('has a case for each of the 76 things a schema can say', () => {
    expect(SCHEMA_CASES).toHaveLength(76);
  });

  it.each(SCHEMA_CASES.map(each => [each.name, each] as const))('%s', (name, each) => {
    expect(each.invalid.filter(text => passes(each, text, false))).toEqual([]);
    const lost = each.valid.filter(text => !passes(each, text, false));
    expect(lost).toEqual(NOT_GENERATED.has(name) ? each.valid : []);
  });

  it('refuses none of them, and exactly the listed ones when every keyword must be enforced', () => {
    expect(SCHEMA_CASES.filter(each => isRefused(each, false))).toEqual([]);
    const refused = SCHEMA_CASES.filter(each => isRefused(each, true)).map(({ name }) => name);
    expect(refused).toEqual(REFUSED_WHEN_STRICT);
  });
});
