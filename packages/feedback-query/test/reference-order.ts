// The oracle of order: which of two rows comes first under some sort keys. Kept apart from the SQL as the evaluator is.
import type { SortKey } from '../src/bind/sort-order.ts';
import type { FeedbackRow } from './feedback-row.ts';
import { readField, toNumber, toText, type Value } from './reference-evaluator.ts';

type Ranked = string | number | null;

/** Ids of the rows in the order of the keys, ended by created_at and id. */
export function orderedIds(rows: readonly FeedbackRow[], keys: readonly SortKey[]): readonly string[] {
  const all: readonly SortKey[] = [...keys, { field: 'created_at' }, { field: 'id' }];
  const inOrder = [...rows].sort((left, right) => {
    for (const { field, direction } of all) {
      const order = orderOf(readField(field, left), readField(field, right), direction === 'desc' ? -1 : 1);
      if (order !== 0) return order;
    }
    return 0;
  });
  return inOrder.map(row => row.id);
}

function orderOf(left: Value, right: Value, sign: 1 | -1): number {
  if (left.type === 'json' && right.type === 'json') {
    const isMissing = (value: Value) => Number(value.type === 'json' && value.value === undefined);
    return (
      isMissing(left) - isMissing(right) ||
      orderRanked(toNumber(left), toNumber(right), sign) ||
      orderRanked(toText(left) ?? '', toText(right) ?? '', sign)
    );
  }
  if (left.type === 'number') return orderRanked(toNumber(left), toNumber(right), sign);
  return orderRanked(toText(left), toText(right), sign);
}

/** Null comes last whatever the sign; texts go by their UTF-8 bytes. */
function orderRanked(left: Ranked, right: Ranked, sign: 1 | -1): number {
  if (left === null || right === null) return Number(left === null) - Number(right === null);
  if (typeof left === 'number' && typeof right === 'number') return sign * Math.sign(left - right);
  return sign * Buffer.compare(Buffer.from(String(left)), Buffer.from(String(right)));
}
