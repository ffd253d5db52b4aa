// Which fields an answer shows: the names in a request, what they select, and how a database row becomes the
// object a client sees. Result columns have names of our own (c0, c1, ...), never the caller's text.
import { assertNever, QueryError } from '../errors.ts';
import type { QueryLimits } from '../parse/limits.ts';
import { COLUMNS, type Field, PAYLOAD_DUMP, parseField } from './fields.ts';

export interface SelectedField {
  /** Key in the answer: the name as sent, except `payload_dump`, which shows as `payload`. */
  readonly key: string;
  readonly field: Field;
}

export type Selection =
  | { readonly kind: 'fields'; readonly fields: readonly SelectedField[] }
  /** One row that counts all matches; several spellings may be asked for at once. */
  | { readonly kind: 'count'; readonly keys: readonly string[] };

/** A row of an answer. */
export type ResultRow = Readonly<Record<string, unknown>>;

const COUNT = /^count\(\*\)$/i;

const ALL_FIELDS: readonly SelectedField[] = Object.freeze(
  COLUMNS.map(({ name }) => ({ key: name, field: parseField(name, []) })),
);

/**
 * Resolves the requested field names; no names means every column.
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
    throw new QueryError('mixed_count', ['fields'], 'count(*) cannot stand beside other fields');
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

/** Name of the result column that holds selected field `index`. */
export function columnAlias(index: number): string {
  return `c${index}`;
}

/** Makes the object a client sees from a row whose columns are named by `columnAlias`. */
export function toResultRow(selection: Selection, row: ResultRow): ResultRow {
  const result: Record<string, unknown> = {};
  if (selection.kind === 'count') {
    for (const key of selection.keys) result[key] = Number(row[columnAlias(0)]);
    return result;
  }
  selection.fields.forEach(({ key, field }, index) => {
    result[key] = decode(field, row[columnAlias(index)]);
  });
  return result;
}

function decode(field: Field, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  switch (field.kind) {
    case 'payload':
      return JSON.parse(String(value));
    case 'map-key':
      return field.column.type === 'number-map' ? Number(value) : value;
    case 'column':
      switch (field.column.type) {
        case 'text':
          return value;
        case 'datetime':
          return toWireDatetime(String(value));
        default:
          return JSON.parse(String(value));
      }
    default:
      return assertNever(field);
  }
}

/** `2026-01-01T12:00:00.123000Z`, and no fraction on whole seconds, as the original writes dates. */
function toWireDatetime(isoMs: string): string {
  return isoMs.replace(/\.(\d{3})Z$/, (_, fraction: string) =>
    fraction === '000' ? 'Z' : `.${fraction}000Z`,
  );
}
