// `multipleOf`: llguidance writes no negative multiples, so they become an alternative of their own.

import { isList, type JsonValue } from '@ortler/json';
import type { KeywordNormaliser, SchemaPlace } from './keyword-normaliser.ts';
import { isMultiple, toDecimal } from './scalar-violation.ts';

/** Negative multiples that are written out. */
const VALUE_LIMIT = 1000;
const NO_NUMBERS = { type: ['null', 'boolean', 'string', 'array', 'object'] };
const NEGATIVE = { exclusiveMaximum: 0 };

/** Mutates: `out`, `also`. */
export function normaliseMultipleOf(
  normaliser: KeywordNormaliser,
  at: SchemaPlace,
  out: Record<string, JsonValue>,
  also: JsonValue[],
): void {
  const { multipleOf: divisor } = out;
  if (typeof divisor !== 'number') return;
  const isAllowed = (value: JsonValue) =>
    (typeof value !== 'number' && typeof value !== 'bigint') || isMultiple(value, divisor);
  const values = out.const !== undefined ? [out.const] : out.enum;
  if (isList(values)) {
    if (!values.some(isAllowed)) return;
    if (out.enum !== undefined) out.enum = (out.enum as JsonValue[]).filter(isAllowed);
    delete out.multipleOf;
    return;
  }
  // Every whole number is a multiple of 1 and of 0.5.
  if (out.type === 'integer' && isMultiple(1, divisor)) {
    delete out.multipleOf;
    return;
  }
  const negative = negativeMultiples(out, divisor);
  if (negative === null) return;
  if (negative === 'many' && normaliser.options.isLenient !== true) return;
  delete out.multipleOf;
  const multiples = { type: 'number', minimum: 0, multipleOf: divisor };
  also.push({
    anyOf: [NO_NUMBERS, multiples, negative === 'many' ? { type: 'number', ...NEGATIVE } : negative],
  });
  if (negative === 'many') normaliser.markUnenforced('multipleOf', at);
}

/** A schema of the negative numbers; `many` where none says exactly these, null where the bounds allow none. */
function negativeMultiples(out: Record<string, JsonValue>, divisor: number): JsonValue | 'many' | null {
  const bound = (keyword: string, other: number) => {
    const value = out[keyword];
    return typeof value === 'number' ? value : other;
  };
  const least = Math.max(bound('minimum', -Infinity), bound('exclusiveMinimum', -Infinity));
  const most = Math.min(bound('maximum', 0), bound('exclusiveMaximum', 0), 0);
  if (least >= 0) return null;
  if (divisor === 1) return { type: 'integer', ...NEGATIVE };
  const [first, last] = [Math.max(1, Math.floor(-most / divisor)), Math.ceil(-least / divisor)];
  const decimal = toDecimal(divisor);
  if (decimal === null || last - first >= VALUE_LIMIT) return 'many';
  const { mantissa, exponent } = decimal;
  return {
    enum: Array.from({ length: last - first + 1 }, (_, index) =>
      Number(`-${mantissa * BigInt(first + index)}e${exponent}`),
    ),
  };
}
