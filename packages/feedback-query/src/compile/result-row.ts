// Database rows to rows of an answer, as JSON text: what a database gives as JSON is copied, not parsed. Result columns are
// named c0, c1, ... in the SQL; the field names of the request never enter the SQL text. This module imports nothing but
// types, so that a database thread can load it alone.
import type { Field } from '../bind/fields.ts';
import type { Selection } from '../bind/selection.ts';

/** A row of an answer, by field name; or of a database, by column name. */
export type ResultRow = Readonly<Record<string, unknown>>;

/** A key of an answer and where its value comes from. Plain data, which can be sent to a thread. */
export interface ResultColumn {
  /** Key in the answer. */
  readonly key: string;
  /** Name of the result column in the SQL. */
  readonly column: string;
  /** How the database gives the value: a text, an ISO date, a number, or JSON text. */
  readonly form: 'text' | 'datetime' | 'number' | 'json';
}

/** Name of the result column that holds selected field `index`. */
export function columnAlias(index: number): string {
  return `c${index}`;
}

/** The columns of a selection, in the order of the answer. */
export function resultColumns(selection: Selection): readonly ResultColumn[] {
  if (selection.kind === 'count')
    return selection.keys.map(key => ({ key, column: columnAlias(0), form: 'number' }));
  return selection.fields.map(({ key, field }, index) => ({
    key,
    column: columnAlias(index),
    form: formOf(field),
  }));
}

function formOf(field: Field): ResultColumn['form'] {
  if (field.kind === 'payload') return 'json';
  const { type } = field.column;
  if (field.kind === 'map-key') return type === 'number-map' ? 'number' : 'text';
  return type === 'text' || type === 'datetime' ? type : 'json';
}

/** The row as the JSON text of one object. */
export function toRowText(columns: readonly ResultColumn[], row: ResultRow): string {
  let text = '';
  for (const { key, column, form } of columns)
    text += `${text === '' ? '{' : ','}${JSON.stringify(key)}:${toValueText(form, row[column])}`;
  return text === '' ? '{}' : `${text}}`;
}

function toValueText(form: ResultColumn['form'], value: unknown): string {
  if (value === null || value === undefined) return 'null';
  switch (form) {
    case 'json':
      return String(value);
    case 'number':
      return JSON.stringify(Number(value));
    case 'datetime':
      return JSON.stringify(toWireDatetime(String(value)));
    case 'text':
      return JSON.stringify(value);
  }
}

/** `2026-01-01T12:00:00.123000Z`, and no fraction on whole seconds, as the original writes dates. */
function toWireDatetime(isoMs: string): string {
  return isoMs.replace(/\.(\d{3})Z$/, (_, fraction: string) =>
    fraction === '000' ? 'Z' : `.${fraction}000Z`,
  );
}
