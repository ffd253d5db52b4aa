import { expect, it } from 'vitest';
import { fieldsOf } from './field-info.ts';
import { typedLiteral, withOperator } from './filter-edit.ts';
import { toFilter } from './filter-json.ts';
import { type FilterNode, field, group, literal, newCondition } from './filter-node.ts';
import { settleTypes } from './settle-types.ts';

const PATHS = [
  { json_path: 'score', value_type: 'numeric' },
  { json_path: 'ok', value_type: 'boolean' },
] as const;
const LATER = fieldsOf(PATHS);
const BEFORE = fieldsOf([]);

const isEqual = (name: string, right: FilterNode): FilterNode => ({
  ...(newCondition(name) as Extract<FilterNode, { kind: 'compare' }>),
  right,
});

it('gives typed values the types of their fields once these are known, and changes nothing before', () => {
  const typed = (text: string) => typedLiteral(text, 'unknown');
  const member = withOperator(isEqual('payload.score', typed('1.50')), '$in');
  const filter = group(
    '$and',
    isEqual('payload.ok', typed('true')),
    { kind: 'not', child: member },
    isEqual('feedback_type', typed('5')),
    { kind: 'convert', input: isEqual('payload.score', typed('high')), to: 'bool' },
    isEqual('payload.score', typed('2')),
  );
  expect(settleTypes(filter, BEFORE)).toBe(filter);
  expect(toFilter(settleTypes(filter, LATER))).toEqual({
    $expr: {
      $and: [
        { $eq: [{ $getField: 'payload.ok' }, { $literal: true }] },
        { $not: [{ $in: [{ $getField: 'payload.score' }, [{ $literal: 1.5 }]] }] },
        { $eq: [{ $getField: 'feedback_type' }, { $literal: '5' }] },
        { $convert: { input: { $eq: [{ $getField: 'payload.score' }, { $literal: 'high' }] }, to: 'bool' } },
        { $eq: [{ $getField: 'payload.score' }, { $literal: 2 }] },
      ],
    },
  });
});

it('follows a field that is chosen, or changed, after its value', () => {
  const typed = typedLiteral('5', 'numeric');
  const ofText = settleTypes(isEqual('feedback_type', typed), LATER);
  expect(ofText).toMatchObject({ right: { value: '5' } });
  expect(settleTypes({ ...ofText, left: field('payload.score') } as FilterNode, LATER)).toMatchObject({
    right: { value: 5, typed: '5' },
  });
});

it('leaves alone what was chosen, or written as JSON', () => {
  for (const right of [literal('5'), literal(true), literal(null)]) {
    const filter = isEqual('payload.score', right);
    expect(settleTypes(filter, LATER)).toBe(filter);
  }
});
