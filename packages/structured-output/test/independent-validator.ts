// ajv as the judge of finished texts, kept away from a fault of its own.

import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

const ajv = new Ajv2020({ strict: false, validateFormats: true, ownProperties: true });
formats.default(ajv);

/** Whether the value fits the schema, and ajv's words on why not. */
export function judge(
  schema: object,
  value: unknown,
): { readonly isValid: boolean; readonly reason: string } {
  const isValid = ajv.validate(withoutEmptyContains(schema) as object, value);
  return { isValid, reason: ajv.errorsText() };
}

/**
 * The same schema with `minItems: 1` beside each `contains` that needs an item.
 *
 * ajv 8.20.0 declares the result of `contains` inside the loop over the items. For an empty list the loop never runs, and
 * when the code itself stands in a loop (the schema is that of items or of additional properties), the result of the list
 * before is read: `[[5], []]` passes `{ items: { contains: { type: 'integer' } } }`. It does so exactly where an earlier
 * list of the same loop had such an item, with `minContains` 1 and no `maxContains`; other bounds count, and are right.
 * The test beside this file fails when a later ajv is right: then this function can go.
 */
function withoutEmptyContains(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutEmptyContains);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = mapValues(schema, (value, keyword) => {
    if (DATA_KEYWORDS.has(keyword)) return value;
    return NAMED_SCHEMAS.has(keyword)
      ? mapValues(value as object, withoutEmptyContains)
      : withoutEmptyContains(value);
  });
  if (copy.contains === undefined || copy.minContains === 0) return copy;
  return { ...copy, minItems: Math.max(1, Number(copy.minItems ?? 0)) };
}

const DATA_KEYWORDS = new Set(['const', 'enum', 'default', 'examples', 'required']);
/** Their keys are names, of which one may be `contains`. */
const NAMED_SCHEMAS = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'dependentSchemas',
  'dependentRequired',
]);

function mapValues(
  object: object,
  change: (value: unknown, key: string) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]));
}
