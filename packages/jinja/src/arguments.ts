// The type of filters, and access to the arguments of filters and methods, by position or by name.

import { toText } from './print.ts';
import { TemplateError } from './template-error.ts';
import { type Arguments, Float, iterate, numberOf, typeName, Undefined, type Value } from './values.ts';

/** Access to other filters and tests, for filters such as `map` and `select`. */
export interface FilterContext {
  readonly applyFilter: (name: string, input: Value, args: Arguments) => Value;
  readonly applyTest: (name: string, input: Value, args: Arguments) => boolean;
}

export type Filter = (input: Value, args: Arguments, context: FilterContext) => Value;

/** Undefined for an argument that is not given; None is given. */
export function argument(args: Arguments, position: number, name: string): Value | undefined {
  const found = args.positional[position];
  return found === undefined ? args.named.get(name) : found;
}

/** The argument, or `fallback` where it is not given. */
export function argumentOr(args: Arguments, position: number, name: string, fallback: Value): Value {
  const found = argument(args, position, name);
  return found === undefined ? fallback : found;
}

export function requireText(args: Arguments, position: number, name: string): string {
  const value = argument(args, position, name);
  if (typeof value === 'string') return value;
  if (value instanceof Undefined) value.fail();
  throw new TemplateError(
    `"${name}" must be a str, not ${value === undefined ? 'missing' : typeName(value)}`,
  );
}

export function optionalInteger(args: Arguments, position: number, name: string): number | undefined {
  const value = argument(args, position, name);
  if (value === undefined || value === null) return undefined;
  const number = value instanceof Float ? null : numberOf(value);
  if (number === null) throw new TemplateError(`"${name}" must be an int, not ${typeName(value)}`);
  return number;
}

/** The items of the first argument, which must all be texts. */
export function iterateTexts(args: Arguments): string[] {
  const [items] = args.positional;
  if (items === undefined) throw new TemplateError('join() takes exactly one argument (0 given)');
  return iterate(items).map((item, index) => {
    if (typeof item === 'string') return item;
    throw new TemplateError(
      `sequence item ${index}: expected str instance, ${typeName(item)} found (${toText(item)})`,
    );
  });
}
