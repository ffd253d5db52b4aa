// The field list of a request, bound: each name is a column, a map key or a payload path, or all of them are
// counts. Compiled by compile/compile-query.ts; rows are turned into answers by compile/result-row.ts.
import { QueryError } from '../errors.ts';
import type { QueryLimits } from '../parse/limits.ts';
import { COLUMNS } from './columns.ts';
import { type Field, PAYLOAD_DUMP, parseField } from './fields.ts';

export interface SelectedField {
  /** Key in the answer: the name of the request, but `payload` for `payload_dump`. */
  readonly key: string;
  readonly field: Field;
}

export type Selection =
  | { readonly kind: 'fields'; readonly fields: readonly SelectedField[] }
  /** One row with the number of matches, under one or more spellings of `count(*)`. */
  | { readonly kind: 'count'; readonly keys: readonly string[] };

const COUNT = /^count\(\*\)$/i;

const ALL_FIELDS: readonly SelectedField[] = Object.freeze(
  COLUMNS.map(({ name }) => ({ key: name, field: parseField(name, []) })),
);

/**
 * Resolves the requested field names; without names, every column.
 *
 * Throws: `QueryError` `unknown_field`, `negative_index`, `mixed_count` or `too_large` at `fields.<n>`.
 */
export function bindSelection(names: readonly string[] | null | undefined, limits: QueryLimits): Selection {
  if (names === null || names === undefined || names.length === 0) {
    return { kind: 'fields', fields: ALL_FIELDS };
  }
  if (names.length > limits.maxFieldCount) {
    throw new QueryError('too_large', ['fields'], `At most ${limits.maxFieldCount} fields`);
  }
  const counts = names.filter(name => COUNT.test(name));
  if (counts.length === names.length) return { kind: 'count', keys: counts };
  if (counts.length > 0) {
    throw new QueryError('mixed_count', ['fields'], 'count(*) cannot be combined with other fields');
  }
  const fields = new Map<string, SelectedField>();
  names.forEach((name, index) => {
    const selected =
      name === '*'
        ? ALL_FIELDS
        : [
            {
              key: name === PAYLOAD_DUMP ? 'payload' : name,
              field: parseField(name, ['fields', index], limits),
            },
          ];
    for (const item of selected) fields.set(item.key, item);
  });
  return { kind: 'fields', fields: [...fields.values()] };
}
