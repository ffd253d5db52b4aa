// The parser: unknown JSON to a frozen expression tree, or a QueryError with the path of the first error.
// Knows the grammar (grammar.ts) and the limits; knows nothing of fields, types or databases.
import { assertNever } from '../errors.ts';
import type { ExprNode } from './expr-node.ts';
import { EXPR_ROOT, type ExprPath, step } from './expr-path.ts';
import { GRAMMAR, GRAMMAR_BY_NAME, type GrammarRule } from './grammar.ts';
import {
  fault,
  isObject,
  type JsonObject,
  listOf,
  namedArguments,
  parseFlag,
  parseLiteral,
  parseTarget,
  parseText,
  tupleOf,
} from './json-arguments.ts';
import { DEFAULT_QUERY_LIMITS, type QueryLimits } from './limits.ts';

const ALL_NAMES = GRAMMAR.map(rule => rule.name).join(', ');
const CONDITION_NAMES = GRAMMAR.filter(rule => rule.result === 'condition')
  .map(rule => rule.name)
  .join(', ');

/** Longest unwrapped value that an error message repeats. Unit: UTF-16 code units of its JSON. */
const MAX_SHOWN_LENGTH = 100;

/** State of one parser run. */
interface ParseState {
  readonly limits: QueryLimits;
  nodeCount: number;
}

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
