// Operators on template values, with Python's rules for the types of operands and results.

import { formatPercent } from './format.ts';
import { chargeItems, chargeText } from './meter.ts';
import type { BinaryOperator, CompareOperator } from './nodes.ts';
import { TemplateError } from './template-error.ts';
import {
  compareValues,
  Float,
  isEqual,
  iterate,
  numberOf,
  sequenceItems,
  Tuple,
  toKey,
  typeName,
  Undefined,
  type Value,
} from './values.ts';

export function applyBinary(operator: BinaryOperator, left: Value, right: Value): Value {
  if (left instanceof Undefined) left.fail();
  if (right instanceof Undefined) right.fail();
  if (operator === '%' && typeof left === 'string') return formatPercent(left, right);
  const a = numberOf(left);
  const b = numberOf(right);
  if (a !== null && b !== null) {
    const isFloat = left instanceof Float || right instanceof Float;
    return calculate(operator, a, b, isFloat);
  }
  if (operator === '+') {
    if (typeof left === 'string' && typeof right === 'string') return left + right;
    if (Array.isArray(left) && Array.isArray(right)) {
      chargeItems(left.length + right.length);
      return left.concat(right);
    }
    if (left instanceof Tuple && right instanceof Tuple) {
      chargeItems(left.items.length + right.items.length);
      return new Tuple(left.items.concat(right.items));
    }
    if (typeof left === 'string')
      throw new TemplateError(`can only concatenate str (not "${typeName(right)}") to str`);
  }
  if (operator === '*') {
    if (typeof right === 'number' || typeof right === 'boolean') return repeat(left, Number(right), operator);
    if (typeof left === 'number' || typeof left === 'boolean') return repeat(right, Number(left), operator);
  }
  throw unsupported(operator, left, right);
}

function calculate(operator: BinaryOperator, a: number, b: number, isFloat: boolean): Value {
  const wrap = (value: number): Value => (isFloat ? new Float(value) : checkInteger(value));
  switch (operator) {
    case '+':
      return wrap(a + b);
    case '-':
      return wrap(a - b);
    case '*':
      return wrap(a * b);
    case '/':
      return new Float(a / nonZero(b));
    case '//':
      return wrap(Math.round((a - remainder(a, b)) / b));
    case '%':
      return wrap(remainder(a, b));
    case '**':
      if (a < 0 && !Number.isInteger(b)) throw new TemplateError('The power is a complex number.');
      return b < 0 && !isFloat ? new Float(a ** b) : wrap(a ** b);
  }
}

/** Exact, as JavaScript's is, but with the sign of the divisor, as Python's is. Throws: for a divisor of 0. */
function remainder(a: number, b: number): number {
  const rest = a % nonZero(b);
  if (rest === 0) return b < 0 ? -0 : 0;
  return rest < 0 === b < 0 ? rest : rest + b;
}

function nonZero(value: number): number {
  if (value === 0) throw new TemplateError('division by zero');
  return value;
}

function checkInteger(value: number): number {
  if (!Number.isSafeInteger(value)) throw new TemplateError('The integer is too large for a template.');
  // There is no negative zero among integers.
  return value === 0 ? 0 : value;
}

function repeat(value: Value, count: number, operator: string): Value {
  const times = Math.max(0, count);
  if (typeof value === 'string') chargeText(value.length * times);
  else chargeItems((sequenceItems(value)?.length ?? 0) * times);
  if (typeof value === 'string') return value.repeat(times);
  if (value instanceof Tuple && value.items.length === 0) return value;
  if (Array.isArray(value) && value.length === 0) return [];
  if (value instanceof Tuple) return new Tuple(Array.from({ length: times }, () => value.items).flat());
  if (Array.isArray(value)) return Array.from({ length: times }, () => value).flat() as Value[];
  throw unsupported(operator, value, count);
}

export function negate(value: Value): Value {
  if (value instanceof Undefined) value.fail();
  if (value instanceof Float) return new Float(-value.value);
  const number = numberOf(value);
  if (number === null) throw new TemplateError(`bad operand type for unary -: '${typeName(value)}'`);
  return number === 0 ? 0 : -number;
}

export function compare(operator: CompareOperator, left: Value, right: Value): boolean {
  switch (operator) {
    case '==':
      return isEqual(left, right);
    case '!=':
      return !isEqual(left, right);
    case 'in':
      return contains(right, left);
    case 'not in':
      return !contains(right, left);
    case '<':
      return compareValues(left, right, operator) < 0;
    case '>':
      return compareValues(left, right, operator) > 0;
    case '<=':
      return compareValues(left, right, operator) <= 0;
    case '>=':
      return compareValues(left, right, operator) >= 0;
  }
}

export function contains(container: Value, item: Value): boolean {
  if (typeof container === 'string') {
    if (item instanceof Undefined) item.fail();
    if (typeof item !== 'string') {
      throw new TemplateError(`'in <string>' requires string as left operand, not ${typeName(item)}`);
    }
    return container.includes(item);
  }
  if (container instanceof Map) return container.has(toKey(item));
  return iterate(container).some(each => isEqual(each, item));
}

function unsupported(operator: string, left: Value, right: Value): TemplateError {
  return new TemplateError(
    `unsupported operand type(s) for ${operator}: '${typeName(left)}' and '${typeName(right)}'`,
  );
}
