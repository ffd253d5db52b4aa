// Refuses an oversized constraint on the calling thread before it is serialised or posted to the worker: either would block
// the event loop for a schema of megabytes.

import { CONSTRAINT_FIELDS, type ConstraintSpec } from '../constraint-spec.ts';
import { refuse } from '../refuse.ts';

/**
 * Reads no more of it than the limit allows. Counts a lower bound of its size; the front end measures exactly. Throws:
 * `invalid_constraint`.
 */
export function refuseOversize(spec: ConstraintSpec, sourceBytes: number): void {
  const open: object[] = [];
  let bytes = 0;
  const look = (value: unknown): void => {
    // With a separator after a text; whatever else is there takes a byte at least, whether it was looked into or waits.
    bytes += typeof value === 'string' ? value.length + 1 : 1;
    // After the first one there is no separator.
    if (bytes - 1 > sourceBytes)
      refuse('', `The constraint has more bytes than the ${sourceBytes} that are allowed`);
    if (typeof value === 'object' && value !== null) open.push(value);
  };
  for (const field of CONSTRAINT_FIELDS)
    if (field in spec) look((spec as Readonly<Record<string, unknown>>)[field]);
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (Array.isArray(value)) {
      for (const item of value) look(item);
      continue;
    }
    for (const key of Object.keys(value)) {
      bytes += key.length;
      look((value as Readonly<Record<string, unknown>>)[key]);
    }
  }
}
