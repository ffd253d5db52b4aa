// The coercing primitives against pydantic's results in golden/lax-coercion.json, written by the script beside it.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { laxBoolean, laxDateTime, laxInteger, laxNumber } from '../src/lax-primitives.ts';
import { metadataValue, metricValue } from '../src/scalar-union.ts';
import { toValidationDetails } from '../src/validation-error.ts';

interface Row {
  readonly declared: string;
  readonly input: unknown;
  readonly value?: unknown;
  readonly errors?: readonly { loc: string[]; type: string; msg: string }[];
}

const golden = JSON.parse(readFileSync(new URL('golden/lax-coercion.json', import.meta.url), 'utf8')) as {
  provenance: { script: string; pydantic: string; python: string };
  rows: Row[];
};

const SCHEMAS: Record<string, z.ZodType> = {
  number: laxNumber(),
  integer: laxInteger(),
  boolean: laxBoolean(),
  string: z.string(),
  array: z.array(z.unknown()),
  object: z.record(z.string(), z.unknown()),
  literal: z.enum(['asc', 'desc']),
  dateTime: laxDateTime(),
  metric: metricValue(),
  metadata: metadataValue(),
};

/** Values that pydantic accepts but JSON cannot represent are refused here. */
const NOT_FINITE = { loc: [], type: 'finite_number', msg: 'Input should be a finite number' };

function parse(schema: z.ZodType, input: unknown): { value: unknown } | { errors: unknown } {
  const result = schema.safeParse(input);
  if (result.success) return { value: result.data };
  // Wrapped in a field, because null as a whole body would count as missing.
  const wrapped = z.object({ field: schema }).safeParse({ field: input });
  const details = toValidationDetails(wrapped.error!, 'body', { field: input });
  return { errors: details.map(({ loc, type, msg }) => ({ loc: loc.slice(2), type, msg })) };
}

function expected(row: Row): { value: unknown } | { errors: unknown } {
  if (row.errors !== undefined) return { errors: row.errors };
  const isNonFinite = typeof row.value === 'object' && row.value !== null && 'nonFinite' in row.value;
  return isNonFinite ? { errors: [NOT_FINITE] } : { value: row.value };
}

describe('lenient primitives', () => {
  it('have a golden file that says how it was made', () => {
    expect(golden.provenance.script).toBe('lax-coercion.py');
    expect(golden.provenance.pydantic).toMatch(/^2\./);
    expect(golden.rows.length).toBeGreaterThan(500);
  });

  for (const [declared, schema] of Object.entries(SCHEMAS)) {
    it(`convert and refuse as pydantic does: ${declared}`, () => {
      const rows = golden.rows.filter(row => row.declared === declared);
      expect(rows.length).toBeGreaterThan(5);
      for (const row of rows) {
        expect({ input: row.input, ...parse(schema, row.input) }).toEqual({
          input: row.input,
          ...expected(row),
        });
      }
    });
  }
});
