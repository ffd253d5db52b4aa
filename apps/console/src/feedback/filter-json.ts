// The builder's nodes as the JSON of a query, and back. Every filter of the language can be edited; JSON that is not one is
// refused with the place of its fault.

import type { FeedbackFilter, FeedbackOperand } from '@ortler/schemas';
import {
  COMPARISONS,
  CONVERT_TARGETS,
  type Comparison,
  type ConvertTarget,
  type FilterNode,
  isCondition,
} from './filter-node.ts';

/** A fault of the JSON. Its message starts with the place. */
export class FilterError extends Error {}

/** The filter; undefined for an empty group, which filters nothing. */
export function toFilter(node: FilterNode): FeedbackFilter | undefined {
  if (node.kind === 'group' && node.children.length === 0) return undefined;
  return { $expr: toOperand(node) } as FeedbackFilter;
}

function toOperand(node: FilterNode): FeedbackOperand {
  switch (node.kind) {
    case 'group':
      return operation(node.operator, node.children.map(toOperand));
    case 'not':
      return { $not: [toOperand(node.child)] };
    case 'compare':
      return operation(node.operator, [toOperand(node.left), toOperand(node.right)]);
    case 'member':
      return operation(node.operator, [toOperand(node.value), node.list.map(toOperand)]);
    case 'text': {
      const matched = {
        input: toOperand(node.input),
        ...(node.operator === '$contains'
          ? { substr: toOperand(node.needle) }
          : { prefix: toOperand(node.needle) }),
        ...(node.ignoresCase && { case_insensitive: true }),
      };
      return operation(node.operator, matched);
    }
    case 'exists':
      return { $exists: toOperand(node.input) };
    case 'field':
      return { $getField: node.name };
    case 'literal':
      return { $literal: node.value };
    case 'convert':
      return { $convert: { input: toOperand(node.input), to: node.to } };
    case 'size':
      return { $size: toOperand(node.input) };
  }
}

// The type has one member for each operator; a name that is a variable fits none of them.
function operation(name: string, operands: unknown): FeedbackOperand {
  return { [name]: operands } as unknown as FeedbackOperand;
}

/** Reads a filter. Throws: `FilterError`. */
export function fromFilter(filter: unknown): FilterNode {
  const [name, expression] = onlyEntry(filter, 'The filter');
  if (name !== '$expr') throw new FilterError(`The filter has the key ${name}; it should be $expr.`);
  const node = fromOperand(expression, '$expr');
  if (!isCondition(node)) throw new FilterError('$expr: a filter is a condition, such as $eq or $and.');
  return node;
}

function fromOperand(json: unknown, path: string): FilterNode {
  const [name, value] = onlyEntry(json, path);
  const at = `${path}.${name}`;
  if (isComparison(name)) {
    const [left, right] = listOf(value, at, 2);
    return {
      kind: 'compare',
      operator: name,
      left: fromOperand(left, `${at}.0`),
      right: fromOperand(right, `${at}.1`),
    };
  }
  switch (name) {
    case '$and':
    case '$or': {
      const children = listOf(value, at).map((child, index) => fromOperand(child, `${at}.${index}`));
      if (children.length === 0) throw new FilterError(`${at}: at least one condition is needed.`);
      return { kind: 'group', operator: name, children };
    }
    case '$not':
      return { kind: 'not', child: fromOperand(listOf(value, at, 1)[0], `${at}.0`) };
    case '$in':
    case '$nin': {
      const [input, list] = listOf(value, at, 2);
      return {
        kind: 'member',
        operator: name,
        value: fromOperand(input, `${at}.0`),
        list: listOf(list, `${at}.1`).map((element, index) => fromOperand(element, `${at}.1.${index}`)),
      };
    }
    case '$contains':
    case '$startsWith': {
      const key = name === '$contains' ? 'substr' : 'prefix';
      const parts = recordOf(value, at, ['input', key, 'case_insensitive']);
      return {
        kind: 'text',
        operator: name,
        input: fromOperand(parts.input, `${at}.input`),
        needle: fromOperand(parts[key], `${at}.${key}`),
        ignoresCase: booleanOf(parts.case_insensitive ?? false, `${at}.case_insensitive`),
      };
    }
    case '$exists':
      return { kind: 'exists', input: fromOperand(value, at) };
    case '$size':
      return { kind: 'size', input: fromOperand(value, at) };
    case '$convert': {
      const { input, to } = recordOf(value, at, ['input', 'to']);
      if (!isConvertTarget(to))
        throw new FilterError(`${at}.to: it should be ${CONVERT_TARGETS.join(', ')}.`);
      return { kind: 'convert', input: fromOperand(input, `${at}.input`), to };
    }
    case '$getField':
      if (typeof value !== 'string') throw new FilterError(`${at}: the name of a field must be a string.`);
      return { kind: 'field', name: value };
    case '$literal':
      if (value !== null && !['string', 'number', 'boolean'].includes(typeof value))
        throw new FilterError(`${at}: it should be a string, a number, true, false or null.`);
      return { kind: 'literal', value: value as string | number | boolean | null };
    default:
      throw new FilterError(`${path}: there is no operator ${name}.`);
  }
}

function isComparison(name: string): name is Comparison {
  return (COMPARISONS as readonly string[]).includes(name);
}

function isConvertTarget(value: unknown): value is ConvertTarget {
  return (CONVERT_TARGETS as readonly unknown[]).includes(value);
}

function onlyEntry(json: unknown, path: string): readonly [string, unknown] {
  const entries =
    typeof json === 'object' && json !== null && !Array.isArray(json) ? Object.entries(json) : [];
  const [entry] = entries;
  if (entry === undefined || entries.length !== 1)
    throw new FilterError(`${path}: an object with exactly one operator is needed here.`);
  return entry;
}

function listOf(json: unknown, path: string, length?: number): readonly unknown[] {
  if (!Array.isArray(json) || (length !== undefined && json.length !== length))
    throw new FilterError(`${path}: a list${length === undefined ? '' : ` of ${length}`} is needed here.`);
  return json;
}

function recordOf(json: unknown, path: string, keys: readonly string[]): Readonly<Record<string, unknown>> {
  const record = typeof json === 'object' && json !== null && !Array.isArray(json) ? json : null;
  const unknown = Object.keys(record ?? {}).find(key => !keys.includes(key));
  if (record === null || unknown !== undefined)
    throw new FilterError(`${path}: an object with ${keys.join(', ')} is needed here.`);
  return record as Readonly<Record<string, unknown>>;
}

function booleanOf(json: unknown, path: string): boolean {
  if (typeof json !== 'boolean') throw new FilterError(`${path}: it should be true or false.`);
  return json;
}
