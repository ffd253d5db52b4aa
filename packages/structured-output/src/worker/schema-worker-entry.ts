// Main module of the worker thread that validates JSON values: the caller's schema and value decide the cost.

import { parseJson } from '@ortler/json';
import { serveTasks } from '@ortler/worker';
import { DEFAULT_CONSTRAINT_LIMITS } from '../constraint-spec.ts';
import { ConstraintError } from '../errors.ts';
import { findViolation } from '../json-schema/find-violation.ts';
import { normaliseSchema } from '../json-schema/normalise-schema.ts';

/** Texts are JSON. */
export type SchemaTask =
  | { readonly kind: 'check-schema'; readonly schema: string }
  | { readonly kind: 'find-violation'; readonly schema: string; readonly value: string };

serveTasks((task: SchemaTask) => {
  const schema = parseJson(task.schema);
  if (task.kind === 'find-violation') return findViolation(schema, parseJson(task.value));
  normaliseSchema(schema, { closeObjects: false, limits: DEFAULT_CONSTRAINT_LIMITS });
  return null;
}, ConstraintError);
