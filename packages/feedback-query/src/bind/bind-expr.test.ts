// Expressions that the binder refuses, with code and path.
import { describe, expect, it } from 'vitest';
import type { QueryErrorCode, QueryPath } from '../errors.ts';
import { parseExpr } from '../parse/parse-expr.ts';
import { bindExpr } from './bind-expr.ts';

const get = (name: string) => ({ $getField: name });
const literal = (value: unknown) => ({ $literal: value });
const bind = (expr: unknown) => bindExpr(parseExpr(expr));

const REFUSED: readonly (readonly [name: string, expr: unknown, code: QueryErrorCode, tail: QueryPath])[] = [
  ['an unknown field', { $eq: [get('nope'), literal(1)] }, 'unknown_field', ['$eq', 0, '$getField']],
  ['a field in other case', { $eq: [get('ID'), literal('x')] }, 'unknown_field', ['$eq', 0, '$getField']],
  [
    'a path into a text column',
    { $eq: [get('id.foo'), literal('x')] },
    'unknown_field',
    ['$eq', 0, '$getField'],
  ],
  ['a star', { $exists: get('*') }, 'unknown_field', ['$exists', '$getField']],
  ['a negative index', { $exists: get('payload.a.-1') }, 'negative_index', ['$exists', '$getField']],
  ['an index beyond 31 bits', { $exists: get('payload.99999999999') }, 'too_large', ['$exists', '$getField']],
  ['text and number', { $eq: [get('id'), literal(5)] }, 'no_common_type', ['$eq', 1]],
  ['text and boolean', { $lt: [literal(true), get('id')] }, 'no_common_type', ['$lt', 1]],
  ['a list column and text', { $eq: [get('scorer_tags'), literal('a')] }, 'no_common_type', ['$eq', 1]],
  ['a date and a boolean', { $eq: [get('created_at'), literal(true)] }, 'no_common_type', ['$eq', 1]],
  ['a date and a payload path', { $eq: [get('created_at'), get('payload.a')] }, 'no_common_type', ['$eq', 1]],
  [
    'a date and no date',
    { $gt: [get('created_at'), literal('soon')] },
    'invalid_datetime',
    ['$gt', 1, '$literal'],
  ],
  [
    'no date first',
    { $gt: [literal('2026-02-30'), get('created_at')] },
    'invalid_datetime',
    ['$gt', 0, '$literal'],
  ],
  [
    'an element of another type',
    { $in: [get('id'), [literal('a'), literal(1)]] },
    'no_common_type',
    ['$in', 1, 1],
  ],
  [
    'text of a map',
    { $contains: { input: get('scorer_ratings'), substr: literal('a') } },
    'unsupported_operand',
    ['$contains', 'input'],
  ],
  [
    'text of a computed double',
    { $contains: { input: get('scorer_ratings.x'), substr: literal('1') } },
    'unsupported_operand',
    ['$contains', 'input'],
  ],
  [
    'a prefix of a list',
    { $startsWith: { input: get('scorer_tags'), prefix: literal('a') } },
    'unsupported_operand',
    ['$startsWith', 'input'],
  ],
  [
    'size of a number',
    { $gt: [{ $size: literal(1) }, literal(0)] },
    'unsupported_operand',
    ['$gt', 0, '$size'],
  ],
  [
    'a date as a number',
    { $and: [{ $convert: { input: get('created_at'), to: 'int' } }] },
    'unsupported_operand',
    ['$and', 0, '$convert', 'input'],
  ],
];

describe('bindExpr', () => {
  it.each(REFUSED)('refuses %s', (_, expr, code, tail) => {
    expect(() => bind(expr)).toThrowError(
      expect.objectContaining({ code, path: ['query', '$expr', ...tail] }),
    );
  });

  it('gives a payload path the type of the other side', () => {
    const readingBeside = (other: unknown) => {
      const bound = bind({ $eq: [get('payload.a'), other] });
      return bound.kind === 'compare' && bound.left.kind === 'payload' ? bound.left.reading : bound.kind;
    };
    expect(readingBeside(literal('a'))).toBe('text');
    expect(readingBeside(literal(1))).toBe('number');
    expect(readingBeside(literal(true))).toBe('flag');
    expect(readingBeside(get('id'))).toBe('text');
    expect(readingBeside({ $size: get('payload.b') })).toBe('number');
    expect(readingBeside(get('payload.b'))).toBe('compare-payload');
    expect(readingBeside(literal(null))).toBe('is-null');
  });

  it('turns an empty list into a condition that never holds', () => {
    expect(bind({ $in: [get('id'), []] })).toEqual({ kind: 'never' });
  });

  it('puts literals of one type into one list', () => {
    const bound = bind({ $in: [get('payload.a'), [literal(1), literal('x'), literal(2)]] });
    expect(bound).toMatchObject({
      kind: 'logic',
      operands: [
        { kind: 'one-of', list: [{}, {}] },
        { kind: 'one-of', list: [{}] },
      ],
    });
  });

  it('leaves one operand of $and unwrapped', () => {
    expect(bind({ $and: [{ $exists: get('payload.a') }] })).toEqual(bind({ $exists: get('payload.a') }));
  });
});
