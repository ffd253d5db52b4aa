// Which ids a query can only be about. A store that finds ids quickly need not look at anything else.
import type { BoundFeedbackQuery } from './bind-query.ts';
import type { BoundCondition, BoundValue } from './bound-node.ts';

/** The ids that the filter asks for, or null when rows of other ids may match too. */
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
