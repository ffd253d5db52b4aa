// The ids that a filter requires. A store with a fast lookup by id needs to read no other rows.
import type { BoundFeedbackQuery } from './bind-query.ts';
import type { BoundCondition, BoundValue } from './bound-node.ts';

/** The only ids that can match the filter; null when rows with other ids may match. */
export function pinnedIds({ filter }: BoundFeedbackQuery): readonly string[] | null {
  return filter === null ? null : idsOf(filter);
}

function idsOf(condition: BoundCondition): readonly string[] | null {
  switch (condition.kind) {
    case 'compare': {
      const { operator, left, right } = condition;
      if (operator !== 'eq') return null;
      return isId(left) ? textsOf([right]) : isId(right) ? textsOf([left]) : null;
    }
    case 'one-of':
      return isId(condition.value) ? textsOf(condition.list) : null;
    case 'logic': {
      const lists = condition.operands.map(idsOf);
      if (condition.operator === 'and') return lists.find(list => list !== null) ?? null;
      return lists.every(list => list !== null) ? lists.flat() : null;
    }
    default:
      return null;
  }
}

function isId(value: BoundValue): boolean {
  return value.kind === 'column' && value.column.name === 'id';
}

function textsOf(values: readonly BoundValue[]): readonly string[] | null {
  const texts = values.flatMap(value => (value.kind === 'text-parameter' ? [value.value] : []));
  return texts.length === values.length ? texts : null;
}
