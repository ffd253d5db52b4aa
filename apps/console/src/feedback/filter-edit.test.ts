import { expect, it } from 'vitest';
import {
  type ConditionName,
  literalOfType,
  operatorOf,
  operatorsFor,
  withKind,
  withOperator,
} from './filter-edit.ts';
import { toFilter } from './filter-json.ts';
import { field, literal, newCondition } from './filter-node.ts';

const condition = { ...newCondition('payload.score'), right: literal(5) } as ReturnType<typeof newCondition>;

it.each<[ConditionName, unknown]>([
  ['$gt', { $gt: [{ $getField: 'payload.score' }, { $literal: 5 }] }],
  ['$nin', { $nin: [{ $getField: 'payload.score' }, [{ $literal: 5 }]] }],
  ['$startsWith', { $startsWith: { input: { $getField: 'payload.score' }, prefix: { $literal: 5 } } }],
  ['$exists', { $exists: { $getField: 'payload.score' } }],
  ['$not', { $not: [{ $eq: [{ $getField: 'payload.score' }, { $literal: 5 }] }] }],
  ['$or', { $or: [{ $eq: [{ $getField: 'payload.score' }, { $literal: 5 }] }] }],
])('changes a condition to %s and keeps its operands', (operator, expression) => {
  const changed = withOperator(condition, operator);
  expect(operatorOf(changed)).toBe(operator);
  expect(toFilter(changed)).toEqual({ $expr: expression });
});

it('goes there and back', () => {
  for (const operator of ['$in', '$contains'] as const)
    expect(withOperator(withOperator(condition, operator), '$eq')).toEqual(condition);
});

it('offers every operator for every type, the suiting ones first', () => {
  expect(operatorsFor('numeric').slice(0, 3)).toEqual(['$eq', '$ne', '$gt']);
  expect(operatorsFor('categorical').slice(2, 4)).toEqual(['$contains', '$startsWith']);
  for (const type of ['numeric', 'boolean', 'categorical', 'unknown'] as const)
    expect(operatorsFor(type)).toHaveLength(11);
});

it('wraps an operand in the one that takes it', () => {
  expect(withKind(field('a'), 'size')).toEqual({ kind: 'size', input: field('a') });
  expect(withKind(field('a'), 'compare')).toEqual(newCondition('a'));
  expect(withKind(field('a'), 'literal')).toEqual(literal(''));
});

it('reads a value in the type of its field', () => {
  expect(literalOfType('0.5', 'numeric')).toEqual(literal(0.5));
  expect(literalOfType('high', 'numeric')).toEqual(literal('high'));
  expect(literalOfType('true', 'boolean')).toEqual(literal(true));
  expect(literalOfType('5', 'categorical')).toEqual(literal('5'));
});
