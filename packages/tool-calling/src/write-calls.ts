// Past calls as the text that a model wrote for them, for chat templates that do not show calls.

import { toLiteral } from './grammar/literal-grammar.ts';
import { isSchema, printValue } from './merged-schema.ts';
import { taggedString } from './tagged-string.ts';
import type { ArgumentsForm, CallPart, ToolDialect } from './tool-dialect.ts';

export interface PastCall {
  readonly name: string;
  readonly id?: string;
  /** The parsed arguments. A whole number that was written as a float is a `Number` object. */
  readonly arguments: unknown;
}

/** The text of the calls of one answer, with the texts around them. */
export function writeCalls(dialect: ToolDialect, calls: readonly PastCall[]): string {
  const { section, separator } = dialect;
  const written = calls.map((call, index) =>
    dialect.call.map(part => writePart(dialect.arguments, part, call, index)).join(''),
  );
  return section.open + written.join(separator) + section.close;
}

function writePart(form: ArgumentsForm, part: CallPart, call: PastCall, index: number): string {
  if (typeof part === 'object') return part.text;
  switch (part) {
    case 'name':
      return call.name;
    case 'id':
      return call.id ?? '';
    case 'index':
      return String(index);
    case 'arguments':
      return writeArguments(form, isSchema(call.arguments) ? call.arguments : {});
  }
}

function writeArguments(form: ArgumentsForm, values: Readonly<Record<string, unknown>>): string {
  const entries = Object.entries(values);
  switch (form.kind) {
    case 'json':
      return toSpacedJson(values);
    case 'tagged':
      return entries
        .map(([name, value]) => form.open + name + writeTagged(form, value) + form.close)
        .join('');
    case 'literals':
      return entries
        .map(([name, value]) => name + form.nameEnd + toLiteral(value, form.notation))
        .join(form.separator);
  }
}

function writeTagged(form: Extract<ArgumentsForm, { kind: 'tagged' }>, value: unknown): string {
  const { nameEnd, jsonNameEnd = nameEnd } = form;
  return typeof value === 'string' ? nameEnd + taggedString(form, value) : jsonNameEnd + toSpacedJson(value);
}

/** As Python writes it, which is what chat templates show. */
function toSpacedJson(value: unknown): string {
  if (value instanceof Number) return value.toFixed(1);
  if (Array.isArray(value)) return `[${value.map(toSpacedJson).join(', ')}]`;
  if (!isSchema(value)) return printValue(value);
  const entries = Object.entries(value).map(([key, item]) => `${printValue(key)}: ${toSpacedJson(item)}`);
  return `{${entries.join(', ')}}`;
}
