// Expressions to values. Knows scopes, not statements.

import type { FilterContext } from './arguments.ts';
import { applyBinary, compare, negate } from './arithmetic.ts';
import { getAttribute, getItem, getSlice } from './attributes.ts';
import { FILTERS } from './filters.ts';
import { addMarkup, type Marked, Markup, toPlain } from './markup.ts';
import { chargeItems, chargeJoin, chargeText, countStep } from './meter.ts';
import type { CallArguments, Expression } from './nodes.ts';
import { toText } from './print.ts';
import type { Scope } from './scope.ts';
import { TemplateError } from './template-error.ts';
import { TESTS } from './value-tests.ts';
import {
  type Arguments,
  Callable,
  Float,
  Generator,
  isIterable,
  isTruthy,
  iterate,
  numberOf,
  sequenceItems,
  Tuple,
  toKey,
  typeName,
  Undefined,
  type Value,
} from './values.ts';

/** Expressions whose values are new; what filters make is charged where they are applied. */
const MAKERS: ReadonlySet<Expression['kind']> = new Set(['list', 'tuple', 'dict', 'call', 'binary']);

function charge(value: Value): void {
  if (typeof value === 'string') chargeText(value.length);
  else if (value instanceof Map) chargeItems(value.size * 2);
  else if (value instanceof Generator) chargeItems(value.left);
  else {
    const items = value === null ? null : sequenceItems(value);
    if (items !== null) chargeItems(items.length);
  }
}

function joinTexts(parts: readonly string[]): string {
  chargeJoin(parts);
  return parts.join('');
}

/** Throws: `TemplateError` with the line of the innermost expression that failed. */
export function evaluate(node: Expression, scope: Scope): Value {
  return toPlain(evaluateMarked(node, scope));
}

/** As `evaluate`, but markup stays markup. */
export function evaluateMarked(node: Expression, scope: Scope): Marked {
  try {
    countStep();
    const value = evaluateNode(node, scope);
    if (MAKERS.has(node.kind) && !(value instanceof Markup)) charge(value);
    return value;
  } catch (error) {
    if (error instanceof TemplateError) error.line ??= node.line;
    throw error;
  }
}

export function evaluateArguments(args: CallArguments, scope: Scope): Arguments {
  const positional = args.positional.map(each => evaluate(each, scope));
  const named = new Map(args.named.map(([name, each]) => [name, evaluate(each, scope)]));
  if (args.spreadPositional !== undefined) {
    const values = evaluate(args.spreadPositional, scope);
    if (!isIterable(values))
      throw new TemplateError(`argument after * must be a list, not ${typeName(values)}`);
    for (const item of iterate(values)) positional.push(item);
  }
  if (args.spreadNamed !== undefined) {
    const values = evaluate(args.spreadNamed, scope);
    if (!(values instanceof Map))
      throw new TemplateError(`argument after ** must be a dict, not ${typeName(values)}`);
    for (const [name, value] of values) {
      if (typeof name !== 'string') throw new TemplateError('keywords must be strings');
      if (named.has(name)) throw new TemplateError(`got multiple values for keyword argument '${name}'`);
      named.set(name, value);
    }
  }
  return { positional, named };
}

export function applyFilter(name: string, input: Value, args: Arguments): Value {
  countStep();
  const filter = FILTERS.get(name);
  if (filter === undefined) throw new TemplateError(`No filter named '${name}'.`);
  const value = filter(input, args, context);
  charge(value);
  return value;
}

function applyTest(name: string, input: Value, args: Arguments): boolean {
  countStep();
  const test = TESTS.get(name);
  if (test === undefined) throw new TemplateError(`No test named '${name}'.`);
  return test(input, args);
}

const context: FilterContext = { applyFilter, applyTest };

function evaluateNode(node: Expression, scope: Scope): Marked {
  switch (node.kind) {
    case 'literal':
      return node.value;
    case 'float':
      return new Float(node.value);
    case 'name':
      return lookUp(node.name, scope);
    case 'list':
      return node.items.map(item => evaluate(item, scope));
    case 'tuple':
      return new Tuple(node.items.map(item => evaluate(item, scope)));
    case 'dict':
      return new Map(
        node.entries.map(([key, value]) => [toKey(evaluate(key, scope)), evaluate(value, scope)]),
      );
    case 'attribute':
      return getAttribute(evaluate(node.object, scope), node.name);
    case 'item':
      return getItem(evaluate(node.object, scope), evaluate(node.key, scope));
    case 'slice':
      return getSlice(
        evaluate(node.object, scope),
        node.parts.map(part => (part === null ? null : evaluate(part, scope))),
      );
    case 'call':
      return call(evaluate(node.callee, scope), evaluateArguments(node.args, scope));
    case 'filter': {
      const value = applyFilter(node.name, evaluate(node.input, scope), evaluateArguments(node.args, scope));
      return node.name === 'safe' && typeof value === 'string' ? new Markup(value) : value;
    }
    case 'test':
      return applyTest(node.name, evaluate(node.input, scope), evaluateArguments(node.args, scope));
    case 'not':
      return !isTruthy(evaluate(node.operand, scope));
    case 'negative':
      return negate(evaluate(node.operand, scope));
    case 'positive':
      return positive(evaluate(node.operand, scope));
    case 'and': {
      const left = evaluateMarked(node.left, scope);
      return isTruthy(toPlain(left)) ? evaluateMarked(node.right, scope) : left;
    }
    case 'or': {
      const left = evaluateMarked(node.left, scope);
      return isTruthy(toPlain(left)) ? left : evaluateMarked(node.right, scope);
    }
    case 'binary': {
      const [left, right] = [evaluateMarked(node.left, scope), evaluateMarked(node.right, scope)];
      const sum = node.operator === '+' ? addMarkup(left, right) : null;
      return sum ?? applyBinary(node.operator, toPlain(left), toPlain(right));
    }
    case 'concat':
      return joinTexts(node.parts.map(part => toText(evaluate(part, scope))));
    case 'compare': {
      let left = evaluate(node.first, scope);
      for (const { operator, operand } of node.rest) {
        const right = evaluate(operand, scope);
        if (!compare(operator, left, right)) return false;
        left = right;
      }
      return true;
    }
    case 'condition':
      if (isTruthy(evaluate(node.test, scope))) return evaluateMarked(node.yes, scope);
      if (node.no !== null) return evaluateMarked(node.no, scope);
      return new Undefined('the inline if-expression evaluated to false and no else section was defined.');
  }
}

/** Names that jinja2 defines and this package does not: treated as undefined, they would change the text. */
const REFUSED_NAMES: readonly string[] = ['cycler', 'joiner', 'lipsum', 'self'];

function lookUp(name: string, scope: Scope): Marked {
  const value = scope.get(name);
  if (value !== undefined) return value;
  if (REFUSED_NAMES.includes(name)) throw new TemplateError(`"${name}" is not supported.`);
  return new Undefined(`'${name}' is undefined`);
}

export function call(callee: Value, args: Arguments): Value {
  if (callee instanceof Undefined) callee.fail();
  if (!(callee instanceof Callable)) throw new TemplateError(`'${typeName(callee)}' object is not callable`);
  return callee.call(args);
}

function positive(value: Value): Value {
  if (value instanceof Undefined) value.fail();
  if (numberOf(value) === null) throw new TemplateError(`bad operand type for unary +: '${typeName(value)}'`);
  return typeof value === 'boolean' ? Number(value) : value;
}
