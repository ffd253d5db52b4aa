import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FilterError, fromFilter, toFilter } from './filter-json.ts';
import { COMPARISONS, CONVERT_TARGETS, type FilterNode, field, group, literal } from './filter-node.ts';

const { node: operands } = fc.letrec<{ node: FilterNode; leaf: FilterNode }>(tie => ({
  leaf: fc.oneof(
    fc.record({ kind: fc.constant('field' as const), name: fc.string() }),
    fc.record({
      kind: fc.constant('literal' as const),
      value: fc.oneof(
        fc.string(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.boolean(),
        fc.constant(null),
      ),
    }),
  ),
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    tie('leaf'),
    fc.record({
      kind: fc.constant('group' as const),
      operator: fc.constantFrom('$and' as const, '$or' as const),
      children: fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({ kind: fc.constant('not' as const), child: tie('node') }),
    fc.record({
      kind: fc.constant('compare' as const),
      operator: fc.constantFrom(...COMPARISONS),
      left: tie('node'),
      right: tie('node'),
    }),
    fc.record({
      kind: fc.constant('member' as const),
      operator: fc.constantFrom('$in' as const, '$nin' as const),
      value: tie('node'),
      list: fc.array(tie('node'), { maxLength: 3 }),
    }),
    fc.record({
      kind: fc.constant('text' as const),
      operator: fc.constantFrom('$contains' as const, '$startsWith' as const),
      input: tie('node'),
      needle: tie('node'),
      ignoresCase: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('exists' as const), input: tie('node') }),
    fc.record({
      kind: fc.constant('convert' as const),
      input: tie('node'),
      to: fc.constantFrom(...CONVERT_TARGETS),
    }),
    fc.record({ kind: fc.constant('size' as const), input: tie('node') }),
  ),
}));

describe('the JSON of a filter', () => {
  it('is that of the query language', () => {
    const node = group(
      '$and',
      { kind: 'compare', operator: '$gte', left: field('payload.score'), right: literal(0.5) },
      { kind: 'not', child: { kind: 'exists', input: field('creator') } },
      {
        kind: 'text',
        operator: '$contains',
        input: field('payload.note'),
        needle: literal('no'),
        ignoresCase: true,
      },
      {
        kind: 'member',
        operator: '$nin',
        value: field('feedback_type'),
        list: [literal('a'), literal(null)],
      },
      {
        kind: 'compare',
        operator: '$eq',
        left: { kind: 'size', input: { kind: 'convert', input: field('payload.x'), to: 'string' } },
        right: literal(3),
      },
    );
    expect(toFilter(node)).toEqual({
      $expr: {
        $and: [
          { $gte: [{ $getField: 'payload.score' }, { $literal: 0.5 }] },
          { $not: [{ $exists: { $getField: 'creator' } }] },
          {
            $contains: {
              input: { $getField: 'payload.note' },
              substr: { $literal: 'no' },
              case_insensitive: true,
            },
          },
          { $nin: [{ $getField: 'feedback_type' }, [{ $literal: 'a' }, { $literal: null }]] },
          {
            $eq: [
              { $size: { $convert: { input: { $getField: 'payload.x' }, to: 'string' } } },
              { $literal: 3 },
            ],
          },
        ],
      },
    });
  });

  it('is read back as the same filter, whatever it holds', () => {
    fc.assert(
      fc.property(operands, operand => {
        const node: FilterNode = { kind: 'not', child: operand };
        const text = JSON.stringify(toFilter(node));
        expect(fromFilter(JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(node)));
        expect(JSON.stringify(toFilter(fromFilter(JSON.parse(text))))).toBe(text);
      }),
    );
  });

  it('is nothing for an empty group', () => {
    expect(toFilter(group('$and'))).toBe(undefined);
  });

  it.each([
    [{}, 'The filter: an object with exactly one operator'],
    [{ $and: [] }, 'The filter has the key $and'],
    [{ $expr: { $getField: 'id' } }, '$expr: a filter is a condition'],
    [{ $expr: { $and: [] } }, '$expr.$and: at least one'],
    [{ $expr: { $eq: [{ $getField: 'id' }] } }, '$expr.$eq: a list of 2'],
    [{ $expr: { $not: [{ $like: 'a' }] } }, '$expr.$not.0: there is no operator $like'],
    [{ $expr: { $eq: [{ $getField: 'id' }, 5] } }, '$expr.$eq.1: an object'],
    [{ $expr: { $eq: [{ $getField: 'id' }, { $literal: [] }] } }, '$expr.$eq.1.$literal: it should be'],
    [{ $expr: { $contains: { input: {}, sub: 1 } } }, '$expr.$contains: an object with input, substr'],
    [
      { $expr: { $exists: { $convert: { input: { $getField: 'a' }, to: 'text' } } } },
      '$expr.$exists.$convert.to:',
    ],
  ])('tells where %j is wrong', (filter, message) => {
    expect(() => fromFilter(filter)).toThrow(FilterError);
    expect(() => fromFilter(filter)).toThrow(message);
  });
});
