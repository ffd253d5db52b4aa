// Values as JSON inside of code.

import { printJson } from '../components/print-json.ts';

export const toJson = (value: unknown) => printJson(value, 2);
export const indented = (value: unknown, indent = '  ') => toJson(value).replaceAll('\n', `\n${indent}`);
export const toInline = (value: unknown) => toJson(value).replace(/\s*\n\s*/g, ' ');
export const quote = (text: string) => JSON.stringify(text);
export const oneLine = (text: string) => text.replace(/\s+/g, ' ');
export const lines = (...all: readonly string[]) => `${all.join('\n')}\n`;

/** Fields by the names that a library has for them, and the fields that it has none for. */
export function renamed(request: Readonly<Record<string, unknown>>, names: Readonly<Record<string, string>>) {
  const entries = Object.entries(request);
  return {
    known: Object.fromEntries(
      entries.flatMap(([field, value]) => (names[field] === undefined ? [] : [[names[field], value]])),
    ),
    others: Object.fromEntries(entries.filter(([field]) => names[field] === undefined)),
  };
}

/** A comment where a seed has more digits than the numbers of JavaScript. */
export function seedNote(seed: unknown): readonly string[] {
  if (typeof seed !== 'bigint' || Number.isSafeInteger(Number(seed))) return [];
  return ['// Numbers of JavaScript have 53 bits: this seed is rounded. curl and ortler send it whole.'];
}
