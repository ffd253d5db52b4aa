// Files of what a page shows, made in the browser.

import { printJson } from './print-json.ts';

/** Saves a text as a file. */
export function downloadText(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

type Row = Readonly<Record<string, unknown>>;

/** Rows as CSV by RFC 4180. Values that are not texts or numbers are JSON. */
export function toCsv(columns: readonly string[], rows: readonly Row[]): string {
  const lines = [columns, ...rows.map(row => columns.map(column => row[column]))];
  return lines.map(values => `${values.map(toCell).join(',')}\r\n`).join('');
}

function toCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? printJson(value) : String(value);
  // A spreadsheet takes a text that starts like a formula for one, and rows hold what strangers wrote.
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
