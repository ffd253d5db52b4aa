// The tests of chat templates (`value is ...`), by the names of jinja2.

import { argument } from './arguments.ts';
import { compare, contains } from './arithmetic.ts';
import { FILTERS } from './filters.ts';
import type { CompareOperator } from './nodes.ts';
import { toText } from './print.ts';
import { TemplateError } from './template-error.ts';
import {
  type Arguments,
  Callable,
  Float,
  Generator,
  isIterable,
  numberOf,
  typeName,
  Undefined,
  type Value,
} from './values.ts';

export type ValueTest = (value: Value, args: Arguments) => boolean;

const plain: Readonly<Record<string, ValueTest>> = {
  defined: value => !(value instanceof Undefined),
  undefined: value => value instanceof Undefined,
  none: value => value === null,
  boolean: value => typeof value === 'boolean',
  true: value => value === true,
  false: value => value === false,
  integer: value => typeof value === 'number' || typeof value === 'bigint',
  float: value => value instanceof Float,
  number: value => typeof value === 'bigint' || numberOf(value) !== null,
  string: value => typeof value === 'string',
  mapping: value => value instanceof Map,
  iterable: isIterable,
  // In Python a dictionary has a length and items, which is all that this test asks for.
  sequence: value => isIterable(value) && !(value instanceof Generator),
  // In Python an undefined value can be called: that is how it fails.
  callable: value => value instanceof Callable || value instanceof Undefined,
  sameas: (value, args) => isSame(value, operand(args)),
  test: value => typeof value === 'string' && TESTS.has(value),
  odd: value => Math.abs(integerOf(value) % 2) === 1,
  even: value => integerOf(value) % 2 === 0,
  divisibleby: (value, args) => integerOf(value) % integerOf(operand(args)) === 0,
  lower: value => isCased(toText(value), text => text.toLowerCase()),
  upper: value => isCased(toText(value), text => text.toUpperCase()),
  in: (value, args) => contains(operand(args), value),
  filter: value => typeof value === 'string' && FILTERS.has(value),
};

const comparisons: readonly (readonly [CompareOperator, readonly string[]])[] = [
  ['==', ['eq', '==', 'equalto']],
  ['!=', ['ne', '!=']],
  ['<', ['lt', '<', 'lessthan']],
  ['<=', ['le', '<=']],
  ['>', ['gt', '>', 'greaterthan']],
  ['>=', ['ge', '>=']],
];

export const TESTS: ReadonlyMap<string, ValueTest> = new Map([
  ...Object.entries(plain),
  ...comparisons.flatMap(([operator, names]) =>
    names.map((name): [string, ValueTest] => [
      name,
      (value, args) => compare(operator, value, operand(args)),
    ]),
  ),
]);

function operand(args: Arguments): Value {
  const value = argument(args, 0, 'other');
  if (value === undefined) throw new TemplateError('The test needs a value to compare with.');
  return value;
}

/** Python's `is`: the same object; of numbers and texts, which have no identity here, the same type and value. */
function isSame(value: Value, other: Value): boolean {
  if (value instanceof Float) return other instanceof Float && value.value === other.value;
  return value === other;
}

function integerOf(value: Value): number {
  if (value instanceof Undefined) value.fail();
  const number = numberOf(value);
  if (number === null) throw new TemplateError(`an integer is required, not ${typeName(value)}`);
  return number;
}

/** Python requires at least one letter that has a case. */
function isCased(text: string, change: (text: string) => string): boolean {
  return text === change(text) && text.toLowerCase() !== text.toUpperCase();
}
