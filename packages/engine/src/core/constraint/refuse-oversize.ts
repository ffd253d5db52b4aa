// Refuses a constraint that is surely too large before anything is done with it: to print a schema of a megabyte, or to
// hand it to a worker, would stop the thread that streams to everybody.

import type { ConstraintSpec } from '../../request/constraint-spec.ts';
import { refuse } from './refuse.ts';

/**
 * Looks at no more of it than the limit allows. Sizes are those that the text has at least; the front end measures
 * what passes here. Throws: `invalid_request`.
 */
export function refuseOversize(spec: ConstraintSpec, sourceBytes: number): void {
  const open: unknown[] = [contentOf(spec)];
  let bytes = 0;
  while (open.length > 0) {
    const value = open.pop();
    // With a separator behind a text; whatever else is there takes a byte at least.
    bytes += typeof value === 'string' ? value.length + 1 : 1;
    if (Array.isArray(value)) {
      if (value.length > sourceBytes) bytes = Infinity;
      else for (const item of value) open.push(item);
    } else if (typeof value === 'object' && value !== null) {
      for (const key in value) {
        bytes += key.length;
        open.push((value as Readonly<Record<string, unknown>>)[key]);
      }
    }
    // So does each that waits to be looked at. Behind the first one there is no separator.
    if (bytes + open.length - 1 > sourceBytes)
      refuse('', `The constraint has more bytes than the ${sourceBytes} that are allowed`);
  }
}

function contentOf(spec: ConstraintSpec): unknown {
  switch (spec.kind) {
    case 'json-schema':
      return spec.schema;
    case 'regex':
      return spec.pattern;
    case 'choice':
      return spec.choices;
    case 'grammar':
      return spec.text;
    case 'structural-tag':
      return spec.tag;
    case 'json-object':
      return null;
  }
}
