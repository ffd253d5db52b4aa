// Sort keys of a request, bound to ORDER BY terms. Every order ends with created_at and id, so no two rows tie
// and pages never overlap. Compiled by compile/compile-sort-order.ts.
import { assertNever, QueryError } from '../errors.ts';
import type { QueryLimits } from '../parse/limits.ts';
import type { BoundValue } from './bound-node.ts';
import { type Field, parseField } from './fields.ts';
import { readPayload } from './operand.ts';

export type SortDirection = 'asc' | 'desc';

export interface SortKey {
  readonly field: string;
  /** Ascending when absent. */
  readonly direction?: SortDirection | null;
}

/** One ORDER BY term. Missing values come last in both directions. */
export interface SortTerm {
  readonly value: BoundValue;
  readonly direction: SortDirection;
  /** The text that replaces a missing value, in a term that must not be null. */
  readonly absentAs?: '';
}

/** Values of the sort terms of one row, in order; datetimes as ISO text. */
export type Cursor = readonly (string | number | null)[];

/**
 * Resolves sort keys and appends the unique tie-breaker `created_at, id`.
 *
 * Throws: `QueryError` `unknown_field`, `literal_error`, `unsupported_operand` or `too_large` at `sort_by.<n>`.
 */
export function bindSortOrder(
  keys: readonly SortKey[] | null | undefined,
  limits: QueryLimits,
): readonly SortTerm[] {
  const wanted = keys ?? [];
  if (wanted.length > limits.maxFieldCount) {
    throw new QueryError('too_large', ['sort_by'], `At most ${limits.maxFieldCount} sort keys`);
  }
  const terms: SortTerm[] = [];
  wanted.forEach(({ field: name, direction }, index) => {
    const path = ['sort_by', index, 'field'];
    const field = parseField(name, path, limits);
    terms.push(...termsOf(field, checkDirection(direction, index), path));
  });
  for (const name of ['created_at', 'id']) {
    const seen = wanted.some(key => key.field === name);
    if (!seen) terms.push(...termsOf(parseField(name, []), 'asc', []));
  }
  return terms;
}

function checkDirection(direction: SortDirection | null | undefined, index: number): SortDirection {
  if (direction === null || direction === undefined) return 'asc';
  if (direction === 'asc' || direction === 'desc') return direction;
  throw new QueryError('literal_error', ['sort_by', index, 'direction'], "Input should be 'asc' or 'desc'");
}

/** A payload path sorts by presence of the key first, then by number, then by text. */
function termsOf(
  field: Field,
  direction: SortDirection,
  path: readonly (string | number)[],
): readonly SortTerm[] {
  switch (field.kind) {
    case 'payload': {
      const { segments } = field;
      const exists: BoundValue = {
        kind: 'from-condition',
        as: 'integer',
        input: { kind: 'payload-exists', segments },
      };
      return [
        { value: exists, direction: 'desc' },
        { value: readPayload(segments, 'number'), direction },
        { value: readPayload(segments, 'text'), direction, absentAs: '' },
      ];
    }
    case 'map-key':
      return [{ value: { kind: 'map-value', column: field.column, key: field.key }, direction }];
    case 'column': {
      const { column } = field;
      if (column.type === 'text' || column.type === 'datetime') {
        return [{ value: { kind: 'column', column }, direction }];
      }
      throw new QueryError(
        'unsupported_operand',
        path,
        `${column.name} cannot be sorted; use one of its keys`,
      );
    }
    default:
      return assertNever(field);
  }
}
