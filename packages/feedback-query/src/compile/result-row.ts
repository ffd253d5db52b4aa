// Database rows to rows of an answer. Result columns are named c0, c1, ... in the SQL; the field names of the
// request never enter the SQL text.
import type { Field } from '../bind/fields.ts';
import type { Selection } from '../bind/selection.ts';
import { assertNever } from '../errors.ts';

/** A row of an answer, by field name. */
export type ResultRow = Readonly<Record<string, unknown>>;

/** Name of the result column that holds selected field `index`. */
export function columnAlias(index: number): string {
  return `c${index}`;
}

/** Decodes a database row whose columns are named by `columnAlias`. */
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
