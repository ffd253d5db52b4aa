// Main module of the worker that checks JSON values against JSON Schemas: both come from callers, and so does the time it takes.

import { findViolation } from '../core/constraint/json-schema/find-violation.ts';
import { parseJson } from '../core/constraint/json-schema/json-value.ts';
import { normaliseSchema } from '../core/constraint/json-schema/normalise-schema.ts';
import { DEFAULT_CONSTRAINT_LIMITS } from '../request/constraint-spec.ts';
import { serveTasks } from '../text/serve-tasks.ts';

/** Texts are JSON. */
export type SchemaTask =
  | { readonly kind: 'check-schema'; readonly schema: string }
  | { readonly kind: 'find-violation'; readonly schema: string; readonly value: string };

serveTasks((task: SchemaTask) => {
  const schema = parseJson(task.schema);
  if (task.kind === 'find-violation') return findViolation(schema, parseJson(task.value));
  normaliseSchema(schema, { closeObjects: false, limits: DEFAULT_CONSTRAINT_LIMITS });
  return null;
});
