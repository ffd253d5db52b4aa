// The parser: unknown JSON to a frozen expression tree, or a QueryError with the path of the first error.
// Knows the grammar (grammar.ts) and the limits; knows nothing of fields, types or databases.
import { assertNever, QueryError, type QueryErrorCode } from '../errors.ts';
import { CONVERT_TARGETS, type ConvertTarget, type ExprNode, type LiteralValue } from './expr-node.ts';
import { EXPR_ROOT, type ExprPath, step, toQueryPath } from './expr-path.ts';
import { GRAMMAR, GRAMMAR_BY_NAME, type GrammarRule } from './grammar.ts';
import { checkStorableText, DEFAULT_QUERY_LIMITS, type QueryLimits } from './limits.ts';

const ALL_NAMES = GRAMMAR.map(rule => rule.name).join(', ');
const CONDITION_NAMES = GRAMMAR.filter(rule => rule.result === 'condition')
  .map(rule => rule.name)
  .join(', ');

/** Longest unwrapped value that an error message repeats. Unit: UTF-16 code units of its JSON. */
const MAX_SHOWN_LENGTH = 100;

/** The spellings of a boolean that the original API accepts. */
const LAX_BOOLEANS: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  ...[true, 1, '1', 'true', 't', 'yes', 'y', 'on'].map(value => [value, true] as const),
  ...[false, 0, null, '0', 'false', 'f', 'no', 'n', 'off'].map(value => [value, false] as const),
]);

/** State of one parser run. */
interface ParseState {
  readonly limits: QueryLimits;
  nodeCount: number;
}

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Parses the `query` of a request: `{ $expr: operation }`; null and undefined mean no filter.
 *
 * Throws: `QueryError` with fault `malformed`, or code `structured_literal` or `empty_operation`.
 */
export function parseQuery(query: unknown, limits: QueryLimits = DEFAULT_QUERY_LIMITS): ExprNode | null {
  if (query === null || query === undefined) return null;
  const root = step(null, 'query');
  if (!isObject(query)) throw fault('object_type', root, 'query must be an object with the key $expr');
  if (!Object.hasOwn(query, '$expr')) throw fault('missing', step(root, '$expr'), '$expr is required');
  for (const key of Object.keys(query)) {
    if (key !== '$expr') throw fault('extra_forbidden', step(root, key), 'The only key of query is $expr');
  }
  return parseExpr(query.$expr, limits);
}

/**
 * Parses the value of `$expr`, which must be an operation.
 *
 * Throws: like `parseQuery`.
 */
export function parseExpr(input: unknown, limits: QueryLimits = DEFAULT_QUERY_LIMITS): ExprNode {
  const rule = ruleOf(input, EXPR_ROOT);
  if (rule.result === 'value') {
    throw fault(
      'operation_expected',
      EXPR_ROOT,
      `${rule.name} is not a condition; use one of ${CONDITION_NAMES}`,
    );
  }
  return parseOperand(input, EXPR_ROOT, 1, { limits, nodeCount: 0 });
}

function parseOperand(input: unknown, path: ExprPath, depth: number, state: ParseState): ExprNode {
  const { maxDepth, maxNodeCount } = state.limits;
  if (depth > maxDepth)
    throw fault('too_deep', path, `An expression may be nested at most ${maxDepth} levels deep`);
  state.nodeCount += 1;
  if (state.nodeCount > maxNodeCount) {
    throw fault(
      'too_large',
      path,
      `An expression has at most ${maxNodeCount} operators, fields and literals`,
    );
  }
  const rule = ruleOf(input, path);
  return parseArguments(rule, (input as JsonObject)[rule.name], step(path, rule.name), depth, state);
}

/** A hint for an unwrapped value: the operand to write. As in MongoDB, a text that starts with `$` names a field. */
function hintFor(bare: unknown): string {
  if (bare !== null && !['string', 'number', 'boolean'].includes(typeof bare)) return '';
  const text = JSON.stringify(bare);
  if (text.length > MAX_SHOWN_LENGTH) return '';
  const isField = typeof bare === 'string' && bare.startsWith('$');
  return isField
    ? `; write a field as {"$getField": ${JSON.stringify(bare.slice(1))}}`
    : `; write a value as {"$literal": ${text}}`;
}

/** The rule of the single operator in an object; keys without a dollar sign are ignored. */
function ruleOf(input: unknown, path: ExprPath): GrammarRule {
  if (!isObject(input)) {
    throw fault(
      'object_type',
      path,
      `An operand must be an object with one of ${ALL_NAMES}${hintFor(input)}`,
    );
  }
  let found: GrammarRule | undefined;
  for (const key of Object.keys(input)) {
    if (!key.startsWith('$')) continue;
    const rule = GRAMMAR_BY_NAME.get(key);
    if (rule === undefined) {
      throw fault('unknown_operator', step(path, key), `Unknown operator; operators are ${ALL_NAMES}`);
    }
    if (found !== undefined) {
      throw fault('ambiguous_operator', path, `Both ${found.name} and ${key} in one object; use only one`);
    }
    found = rule;
  }
  if (found === undefined) throw fault('unknown_operator', path, `No operator; operators are ${ALL_NAMES}`);
  return found;
}

function parseArguments(
  rule: GrammarRule,
  input: unknown,
  path: ExprPath,
  depth: number,
  state: ParseState,
): ExprNode {
  const operand = (value: unknown, at: ExprPath) => parseOperand(value, at, depth + 1, state);
  switch (rule.form) {
    case 'literal':
      return rule.build(parseLiteral(input, path, state.limits));
    case 'field':
      return rule.build(parseText(input, path, state.limits.maxFieldLength));
    case 'operand':
      return rule.build(operand(input, path));
    case 'list-of-one': {
      const items = tupleOf(input, path, 1);
      return rule.build(operand(items[0], step(path, 0)));
    }
    case 'list': {
      const items = listOf(input, path, state.limits);
      if (items.length === 0) {
        throw fault('empty_operation', path, `Empty ${rule.name.slice(1).toUpperCase()} operation`);
      }
      return rule.build(items.map((item, index) => operand(item, step(path, index))));
    }
    case 'pair': {
      const items = tupleOf(input, path, 2);
      return rule.build(operand(items[0], step(path, 0)), operand(items[1], step(path, 1)));
    }
    case 'value-and-list': {
      const items = tupleOf(input, path, 2);
      const value = operand(items[0], step(path, 0));
      const list = listOf(items[1], step(path, 1), state.limits);
      return rule.build(
        value,
        list.map((item, index) => operand(item, step(path, 1, index))),
      );
    }
    case 'convert': {
      const named = namedArguments(input, path, ['input', 'to'], []);
      return rule.build(operand(named.input, step(path, 'input')), parseTarget(named.to, step(path, 'to')));
    }
    case 'text-match': {
      const { needleKey } = rule;
      const named = namedArguments(input, path, ['input', needleKey], ['case_insensitive']);
      return rule.build(
        operand(named.input, step(path, 'input')),
        operand(named[needleKey], step(path, needleKey)),
        parseFlag(named.case_insensitive, step(path, 'case_insensitive')),
      );
    }
    default:
      return assertNever(rule);
  }
}

function parseLiteral(input: unknown, path: ExprPath, limits: QueryLimits): LiteralValue {
  if (input === null || typeof input === 'boolean') return input;
  if (typeof input === 'string') return parseText(input, path, limits.maxTextLength);
  if (typeof input === 'bigint') return Number(input);
  if (typeof input === 'number') {
    if (!Number.isFinite(input)) throw fault('finite_number', path, 'A number literal must be finite');
    return input;
  }
  if (isWrappedStructure(input)) {
    throw fault('structured_literal', path, 'Objects and lists cannot be compared; compare their text');
  }
  throw fault('literal_type', path, 'A literal must be a string, a number, a boolean or null');
}

/** True for `{}`, `[]` and structures of which every value is itself wrapped in `$literal`. */
function isWrappedStructure(input: unknown): boolean {
  if (typeof input !== 'object' || input === null) return false;
  return Object.values(input).every(value => isObject(value) && Object.hasOwn(value, '$literal'));
}

/** A storable text within the length limit. */
function parseText(input: unknown, path: ExprPath, maxLength: number): string {
  if (typeof input !== 'string') throw fault('string_type', path, 'Input should be a valid string');
  if (input.length > maxLength)
    throw fault('too_large', path, `Text is longer than ${maxLength} UTF-16 code units`);
  checkStorableText(input, toQueryPath(path));
  return input;
}

function parseTarget(input: unknown, path: ExprPath): ConvertTarget {
  const target = CONVERT_TARGETS.find(name => name === input);
  if (target !== undefined) return target;
  throw fault('literal_error', path, "Input should be 'double', 'string', 'int', 'bool' or 'exists'");
}

function parseFlag(input: unknown, path: ExprPath): boolean {
  if (input === undefined) return false;
  const flag = LAX_BOOLEANS.get(typeof input === 'string' ? input.toLowerCase() : input);
  if (flag === undefined) throw fault('bool_type', path, 'Input should be a valid boolean');
  return flag;
}

function tupleOf(input: unknown, path: ExprPath, length: number): readonly unknown[] {
  if (!Array.isArray(input)) throw fault('tuple_type', path, 'Input should be a valid tuple');
  if (input.length < length) throw fault('missing', step(path, input.length), 'Field required');
  if (input.length > length) {
    const items = length === 1 ? 'item' : 'items';
    throw fault(
      'too_long',
      path,
      `Tuple should have at most ${length} ${items} after validation, not ${input.length}`,
    );
  }
  return input;
}

function listOf(input: unknown, path: ExprPath, limits: QueryLimits): readonly unknown[] {
  if (!Array.isArray(input)) throw fault('list_type', path, 'Input should be a valid list');
  if (input.length > limits.maxListLength) {
    throw fault(
      'too_large',
      path,
      `A list has at most ${limits.maxListLength} elements, not ${input.length}`,
    );
  }
  return input;
}

function namedArguments(
  input: unknown,
  path: ExprPath,
  required: readonly string[],
  optional: readonly string[],
): JsonObject {
  const names = [...required, ...optional];
  if (!isObject(input))
    throw fault('object_type', path, `Input should be an object with ${names.join(', ')}`);
  for (const key of Object.keys(input)) {
    if (!names.includes(key)) {
      throw fault(
        'extra_forbidden',
        step(path, key),
        `Extra inputs are not permitted; keys are ${names.join(', ')}`,
      );
    }
  }
  for (const key of required) {
    if (!Object.hasOwn(input, key)) throw fault('missing', step(path, key), 'Field required');
  }
  return input;
}

function isObject(input: unknown): input is JsonObject {
  return typeof input === 'object' && input !== null && !Array.isArray(input);
}

function fault(code: QueryErrorCode, path: ExprPath, message: string): QueryError {
  return new QueryError(code, toQueryPath(path), message);
}
