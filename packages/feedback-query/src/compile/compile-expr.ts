// Bound conditions and values to SQL. Two-valued logic: a comparison with a missing value is false. In SQL it is null,
// which a WHERE clause treats as false, so `coalesce` is needed only where null and false differ: under NOT.
import type { BoundCondition, BoundValue, SharedValue, SqlComparison } from '../bind/bound-node.ts';
import { isNullable, valueType } from '../bind/bound-node.ts';
import { assertNever } from '../errors.ts';
import type { DialectSyntax } from './dialect.ts';
import { clauses, fragment, joinFragments, type SqlFragment, trustedSql } from './sql-fragment.ts';

const OPERATORS = {
  eq: trustedSql('='),
  gt: trustedSql('>'),
  gte: trustedSql('>='),
  lt: trustedSql('<'),
  lte: trustedSql('<='),
} as const satisfies Record<SqlComparison, SqlFragment>;

/** Longest flat chain of AND or OR. SQLite counts each operand as one level of nesting, of at most 1000. */
const MAX_CHAIN_LENGTH = 50;

/** Maximum number of costly operands between two points at which a statement may be stopped. */
const MAX_UNINTERRUPTED = 8;

/** SQL of a condition for a WHERE clause; null means false. Parenthesised, or a single function call. */
export function compileCondition(condition: BoundCondition, syntax: DialectSyntax): SqlFragment {
  return new ExprCompiler(syntax).condition(condition);
}

/** SQL of a value; null where it is missing. */
export function compileValue(value: BoundValue, syntax: DialectSyntax): SqlFragment {
  return new ExprCompiler(syntax).value(value);
}

class ExprCompiler {
  readonly #syntax: DialectSyntax;
  readonly #shared = new Map<SharedValue, SqlFragment>();

  constructor(syntax: DialectSyntax) {
    this.#syntax = syntax;
  }

  condition(node: BoundCondition): SqlFragment {
    const syntax = this.#syntax;
    switch (node.kind) {
      case 'constant':
        return fragment`(${syntax.number(node.value ? 1 : 0)} = 1)`;
      case 'never':
        return trustedSql('(1 = 0)');
      case 'logic':
        return this.#chain(node);
      case 'not':
        return fragment`(NOT ${this.#guarded(node.operand)})`;
      case 'compare': {
        const left = this.value(node.left);
        const right = this.value(node.right);
        const ordered = node.type === 'text' && node.operator !== 'eq';
        return fragment`(${ordered ? syntax.byteOrder(left) : left} ${OPERATORS[node.operator]} ${right})`;
      }
      case 'compare-payload':
        return this.#comparePayload(node);
      case 'one-of':
        return fragment`(${this.value(node.value)} IN (${joinFragments(this.#listed(node.list), ', ')}))`;
      case 'share':
        return syntax.share(this.value(node.shared.input), name => {
          this.#shared.set(node.shared, name);
          return this.condition(node.body);
        });
      case 'is-null':
        return fragment`(${this.value(node.value)} IS NULL)`;
      case 'payload-exists':
        return syntax.payloadExists(node.segments);
      case 'payload-truth':
        return syntax.payloadTruth(node.segments);
      case 'truth':
        return this.#truth(node.value);
      case 'text-match': {
        const input = this.#folded(node.input, node.foldCase);
        const needle = this.#folded(node.needle, node.foldCase);
        return node.operator === 'contains'
          ? syntax.contains(input, needle)
          : syntax.startsWith(input, needle);
      }
      case 'has-element':
        return syntax.hasElement(node.column, this.value(node.needle), node.foldCase);
      default:
        return assertNever(node);
    }
  }

  /** Where -0 is not 0 there is one more number: -0 beside 0, else a number again, so that the SQL is the same for both. */
  #listed(list: readonly BoundValue[]): SqlFragment[] {
    const syntax = this.#syntax;
    const numbers = list.flatMap(element => (element.kind === 'number-parameter' ? [element.value] : []));
    const [first] = numbers;
    if (first === undefined || !syntax.listsNumbersByBits) return list.map(element => this.value(element));
    const listed = list.map(element =>
      element.kind === 'number-parameter' ? syntax.number(element.value + 0) : this.value(element),
    );
    return [...listed, syntax.number(numbers.includes(0) ? -0 : first)];
  }

  value(node: BoundValue): SqlFragment {
    const syntax = this.#syntax;
    switch (node.kind) {
      case 'text-parameter':
        return syntax.text(node.value);
      case 'number-parameter':
        return syntax.number(node.value);
      case 'datetime-parameter':
        return syntax.datetime(node.epochMs);
      case 'column':
        return syntax.column(node.column);
      case 'map-value':
        return syntax.mapValue(node.column, node.key);
      case 'payload':
        return syntax.payload(node.segments, node.reading);
      case 'payload-size':
        return syntax.payloadSize(node.segments);
      case 'column-size':
        return syntax.columnSize(node.column);
      case 'text-length':
        return syntax.textLength(this.value(node.input));
      case 'cast':
        return syntax.cast(node.cast, this.value(node.input));
      case 'from-condition': {
        const [yes, no] = node.as === 'integer' ? ['1', '0'] : ["'true'", "'false'"];
        return clauses(
          fragment`CASE WHEN ${this.condition(node.input)}`,
          fragment`THEN ${trustedSql(yes)}`,
          fragment`ELSE ${trustedSql(no)} END`,
        );
      }
      case 'shared':
        return this.#shared.get(node)!;
      default:
        return assertNever(node);
    }
  }

  #chain({ operands, operator }: Extract<BoundCondition, { kind: 'logic' }>): SqlFragment {
    const separator = operator === 'and' ? ' AND ' : ' OR ';
    const parts = operands.map(operand => this.condition(operand));
    const point = this.#syntax.interruptionPoint();
    if (point === null || parts.length <= MAX_UNINTERRUPTED || !operands.some(isCostly))
      return joinChain(parts, separator);
    const groups: SqlFragment[] = [];
    for (let start = 0; start < parts.length; start += MAX_UNINTERRUPTED) {
      const some = joinFragments(parts.slice(start, start + MAX_UNINTERRUPTED), separator);
      groups.push(fragment`(${point} AND (${some}))`);
    }
    return joinChain(groups, separator);
  }

  #guarded(node: BoundCondition): SqlFragment {
    const bound = this.condition(node);
    return isTotal(node) ? bound : fragment`coalesce(${bound}, false)`;
  }

  #folded(node: BoundValue, foldCase: boolean): SqlFragment {
    const value = this.value(node);
    return foldCase ? this.#syntax.foldCase(value) : value;
  }

  #truth(node: BoundValue): SqlFragment {
    const isText = valueType(node) === 'text';
    return fragment`(${this.value(node)} <> ${trustedSql(isText ? "''" : '0')})`;
  }

  #comparePayload(node: Extract<BoundCondition, { kind: 'compare-payload' }>): SqlFragment {
    const syntax = this.#syntax;
    const { left, right } = node;
    const operator = OPERATORS[node.operator];
    const leftText = syntax.payload(left, 'text');
    const ordered = node.operator === 'eq' ? leftText : syntax.byteOrder(leftText);
    return clauses(
      fragment`(CASE`,
      fragment`WHEN ${syntax.payloadIsNumber(left)} AND ${syntax.payloadIsNumber(right)}`,
      fragment`THEN ${syntax.payload(left, 'number')} ${operator} ${syntax.payload(right, 'number')}`,
      fragment`ELSE ${ordered} ${operator} ${syntax.payload(right, 'text')}`,
      fragment`END)`,
    );
  }
}

/** Whether a condition takes time that depends on the size of a row. Others may use an index, which a check would prevent. */
function isCostly(node: BoundCondition): boolean {
  return node.kind === 'text-match' || node.kind === 'has-element' || node.kind === 'share';
}

/** Whether the SQL of a condition is never null. */
function isTotal(node: BoundCondition): boolean {
  switch (node.kind) {
    case 'constant':
    case 'never':
    case 'not':
    case 'is-null':
    case 'payload-exists':
      return true;
    case 'logic':
      return node.operands.every(isTotal);
    case 'compare':
      return !isNullable(node.left) && !isNullable(node.right);
    case 'one-of':
    case 'truth':
      return !isNullable(node.value);
    case 'share':
      return isTotal(node.body);
    case 'text-match':
      return !isNullable(node.input) && !isNullable(node.needle);
    case 'has-element':
      return !isNullable(node.needle);
    case 'compare-payload':
    case 'payload-truth':
      return false;
    default:
      return assertNever(node);
  }
}

function joinChain(parts: readonly SqlFragment[], separator: string): SqlFragment {
  let links = parts;
  while (links.length > MAX_CHAIN_LENGTH) {
    const groups: SqlFragment[] = [];
    for (let start = 0; start < links.length; start += MAX_CHAIN_LENGTH) {
      groups.push(fragment`(${joinFragments(links.slice(start, start + MAX_CHAIN_LENGTH), separator)})`);
    }
    links = groups;
  }
  return fragment`(${joinFragments(links, separator)})`;
}
