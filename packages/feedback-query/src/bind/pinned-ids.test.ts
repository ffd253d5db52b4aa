// Ids are pinned only where no other row can match.
import { expect, it } from 'vitest';
import { bindFeedbackQuery } from './bind-query.ts';
import { pinnedIds } from './pinned-ids.ts';

const id = { $getField: 'id' };
const literal = (value: string | number | boolean) => ({ $literal: value });
const is = (value: string) => ({ $eq: [id, literal(value)] });
const other = { $gt: [{ $getField: 'payload.x' }, literal(1)] };

it.each([
  [is('a'), ['a']],
  [{ $eq: [literal('a'), id] }, ['a']],
  [{ $in: [id, [literal('a'), literal('b')]] }, ['a', 'b']],
  [{ $and: [other, is('a')] }, ['a']],
  [{ $or: [is('a'), { $and: [other, is('b')] }] }, ['a', 'b']],
  [{ $or: [is('a'), other] }, null],
  [{ $not: [is('a')] }, null],
  [{ $ne: [id, literal('a')] }, null],
  [{ $gte: [id, literal('a')] }, null],
  [{ $eq: [id, { $getField: 'creator' }] }, null],
  [{ $in: [id, [literal('a'), { $getField: 'creator' }]] }, null],
  [other, null],
])('%j pins %j', ($expr, ids) => {
  expect(pinnedIds(bindFeedbackQuery({ projectId: 'p', query: { $expr } }))).toEqual(ids);
});

it('pins nothing without a filter', () => {
  expect(pinnedIds(bindFeedbackQuery({ projectId: 'p' }))).toBeNull();
});
