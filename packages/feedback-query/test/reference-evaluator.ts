// The oracle: what an expression means on one plain row, written for clarity alone and without the binder or any
// SQL. It trusts that the expression binds; every database must return the rows for which it says true.
import { assertNever } from '../src/errors.ts';
import type { ExprNode } from '../src/parse/expr-node.ts';
import type { FeedbackRow } from './feedback-row.ts';

/** A value with the type the query gives it. `json` undefined means: no such key. */
export type Value =
  | { readonly type: 'null' }
  | { readonly type: 'text'; readonly value: string | null }
  | { readonly type: 'number'; readonly value: number | null }
  | { readonly type: 'boolean'; readonly value: boolean }
  /** A value that was converted to a boolean. */
  | { readonly type: 'flag'; readonly value: number | null }
  | { readonly type: 'datetime'; readonly value: number }
  | { readonly type: 'json'; readonly value: unknown }
  | { readonly type: 'list'; readonly value: readonly string[] }
  | { readonly type: 'map'; readonly value: object };

const TEXT_MAPS = ['scorer_tag_reasons', 'scorer_rating_reasons'];
const NUMBER_MAPS = ['scorer_tag_confidences', 'scorer_ratings', 'scorer_rating_confidences'];

/** Whether a row satisfies an expression. */
export function matches(expr: ExprNode, row: FeedbackRow): boolean {
  return isTrue(evaluate(expr, row));
}

function evaluate(node: ExprNode, row: FeedbackRow): Value {
  switch (node.kind) {
    case 'literal':
      return literal(node.value);
    case 'field':
      return readField(node.name, row);
    case 'convert':
      return convert(evaluate(node.input, row), node.to);
    case 'size':
      return number(size(evaluate(node.input, row)));
    case 'logic': {
      const truths = node.operands.map(operand => isTrue(evaluate(operand, row)));
      return boolean(node.operator === 'and' ? truths.every(Boolean) : truths.some(Boolean));
    }
    case 'not':
      return boolean(!isTrue(evaluate(node.operand, row)));
    case 'compare': {
      const left = evaluate(node.left, row);
      const right = evaluate(node.right, row);
      if (node.operator === 'ne') return boolean(!compare('eq', left, right));
      return boolean(compare(node.operator, left, right));
    }
    case 'membership': {
      const value = evaluate(node.value, row);
      const found = node.list.some(element => compare('eq', value, evaluate(element, row)));
      return boolean(node.operator === 'in' ? found : !found);
    }
    case 'text-match':
      return boolean(
        matchText(
          node.operator,
          evaluate(node.input, row),
          toText(evaluate(node.needle, row)),
          node.caseInsensitive,
        ),
      );
    case 'exists':
      return boolean(exists(evaluate(node.input, row)));
    default:
      return assertNever(node);
  }
}

function literal(value: string | number | boolean | null): Value {
  if (value === null) return { type: 'null' };
  if (typeof value === 'string') return { type: 'text', value };
  return typeof value === 'number' ? { type: 'number', value } : { type: 'boolean', value };
}

function number(value: number | null): Value {
  return { type: 'number', value };
}

function boolean(value: boolean): Value {
  return { type: 'boolean', value };
}

/** The value of a field in a row. */
export function readField(name: string, row: FeedbackRow): Value {
  if (name === 'payload' || name === 'payload_dump') return { type: 'json', value: row.payload };
  if (name.startsWith('payload.')) return { type: 'json', value: readPayload(name.slice(8), row.payload) };
  if (name === 'created_at') return { type: 'datetime', value: Date.parse(row.created_at) };
  if (name === 'scorer_tags') return { type: 'list', value: row.scorer_tags };
  const [head = '', ...rest] = name.split('.');
  const stored = row[head as keyof FeedbackRow];
  if (TEXT_MAPS.includes(head) || NUMBER_MAPS.includes(head)) {
    const map = stored as Readonly<Record<string, string | number>>;
    if (rest.length === 0) return { type: 'map', value: map };
    const key = rest.join('.');
    const value = Object.hasOwn(map, key) ? map[key] : null;
    return (
      TEXT_MAPS.includes(head) ? { type: 'text', value: value as string } : { type: 'number', value }
    ) as Value;
  }
  return { type: 'text', value: stored as string | null };
}

function readPayload(path: string, payload: unknown): unknown {
  let value = payload;
  for (const escaped of path.split(/(?<!\\)\./)) {
    const key = escaped.replaceAll('\\.', '.');
    if (typeof value !== 'object' || value === null) return undefined;
    if (/^[+-]?\d+$/.test(key)) value = Array.isArray(value) ? value[Number(key)] : undefined;
    else if (Array.isArray(value)) value = undefined;
    else value = Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
  }
  return value;
}

function compare(operator: 'eq' | 'gt' | 'gte' | 'lt' | 'lte', left: Value, right: Value): boolean {
  if (left.type === 'null' || right.type === 'null') {
    return operator === 'eq' && isAbsent(left) && isAbsent(right);
  }
  const order = orderOf(left, right);
  if (order === null) return false;
  switch (operator) {
    case 'eq':
      return order === 0;
    case 'gt':
      return order > 0;
    case 'gte':
      return order >= 0;
    case 'lt':
      return order < 0;
    case 'lte':
      return order <= 0;
    default:
      return assertNever(operator);
  }
}

/** Negative, zero or positive as left comes before right; null when either has no value of the common type. */
function orderOf(left: Value, right: Value): number | null {
  const types = [left.type, right.type];
  if (types.includes('datetime')) return orderNumbers(toEpochMs(left), toEpochMs(right));
  if (left.type === 'json' && right.type === 'json') {
    const areNumbers = typeof left.value === 'number' && typeof right.value === 'number';
    return areNumbers
      ? orderNumbers(toNumber(left), toNumber(right))
      : orderTexts(toText(left), toText(right));
  }
  if (types.includes('text')) return orderTexts(toText(left), toText(right));
  if (types.includes('json') && (types.includes('boolean') || types.includes('flag')))
    return orderNumbers(toFlag(left), toFlag(right));
  return orderNumbers(toNumber(left), toNumber(right));
}

function orderNumbers(left: number | null, right: number | null): number | null {
  if (left === null || right === null) return null;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Order of the UTF-8 bytes. */
function orderTexts(left: string | null, right: string | null): number | null {
  if (left === null || right === null) return null;
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

function isAbsent(value: Value): boolean {
  if (value.type === 'null') return true;
  return value.value === null || value.value === undefined;
}

function exists(value: Value): boolean {
  return value.type === 'json' ? value.value !== undefined : !isAbsent(value);
}

function isTrue(value: Value): boolean {
  switch (value.type) {
    case 'null':
      return false;
    case 'list':
      return value.value.length > 0;
    case 'map':
      return Object.keys(value.value).length > 0;
    case 'datetime':
      return true;
    default:
      return Boolean(value.value);
  }
}

/** Epoch milliseconds of a date, of ISO text or of Unix seconds. */
function toEpochMs(value: Value): number {
  if (value.type === 'datetime') return value.value;
  if (value.type === 'number') return Math.floor((value.value as number) * 1000);
  const text = (value as { value: string }).value;
  const zoned = /(z|[+-]\d\d:?\d\d)$/i.test(text) || text.length === 10 ? text : `${text}Z`;
  return Date.parse(zoned.replace(' ', 'T'));
}

/** The text form of a value; null when it has none. */
export function toText(value: Value): string | null {
  switch (value.type) {
    case 'null':
      return null;
    case 'json':
      if (value.value === null || value.value === undefined) return null;
      return typeof value.value === 'string' ? value.value : JSON.stringify(value.value);
    case 'boolean':
      return String(value.value);
    case 'datetime':
      return new Date(value.value).toISOString();
    case 'number':
    case 'flag':
      return value.value === null ? null : numberText(value.value);
    case 'text':
      return value.value;
    default:
      throw new Error(`A ${value.type} has no text`);
  }
}

/** Whole numbers as their exact digits; others (only literals get here) as JSON writes them. */
function numberText(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 2 ** 63
    ? BigInt(value).toString()
    : JSON.stringify(value);
}

/** The number a value is read as; null when it is none. */
export function toNumber(value: Value): number | null {
  if (value.type === 'number' || value.type === 'flag') return value.value;
  if (value.type === 'boolean') return Number(value.value);
  if (value.type === 'json' && typeof value.value === 'number') return value.value;
  if (value.type === 'json' && typeof value.value !== 'string') return null;
  const text = (value as { value?: string | null }).value;
  if (typeof text !== 'string' || [...text].length > 64) return null;
  return /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d{1,2})?$/.test(text) ? Number(text) : null;
}

function toFlag(value: Value): number | null {
  if (value.type === 'boolean') return Number(value.value);
  const text = toText(value);
  if (text === 'true') return 1;
  if (text === 'false') return 0;
  const flag = toNumber(value);
  return flag !== null && Number.isInteger(flag) && flag >= 0 && flag <= 255 ? flag : null;
}

function convert(value: Value, to: string): Value {
  if (to === 'exists') return boolean(exists(value));
  if (value.type === 'null') return value;
  switch (to) {
    case 'string':
      return { type: 'text', value: toText(value) };
    case 'double':
      return number(toNumber(value));
    case 'int': {
      const double = toNumber(value);
      const fits = double !== null && double >= -(2 ** 63) && double < 2 ** 63;
      return number(fits ? Math.trunc(double) : null);
    }
    default:
      return value.type === 'boolean' ? value : { type: 'flag', value: toFlag(value) };
  }
}

function size(value: Value): number | null {
  if (value.type === 'list') return value.value.length;
  if (value.type === 'map') return Object.keys(value.value).length;
  const content = (value as { value?: unknown }).value;
  if (typeof content === 'string') return [...content].length;
  if (Array.isArray(content)) return content.length;
  return typeof content === 'object' && content !== null ? Object.keys(content).length : null;
}

function matchText(
  operator: 'contains' | 'startsWith',
  input: Value,
  needle: string | null,
  caseInsensitive: boolean,
): boolean {
  const fold = (text: string) =>
    caseInsensitive ? text.replace(/[A-Z]/g, letter => letter.toLowerCase()) : text;
  if (needle === null) return false;
  if (input.type === 'list') return input.value.some(element => fold(element) === fold(needle));
  const text = toText(input);
  if (text === null) return false;
  return operator === 'contains' ? fold(text).includes(fold(needle)) : fold(text).startsWith(fold(needle));
}
