// Expressions that the parser refuses, with code and path; and parsing as the inverse of printing.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyExpr } from '../../test/arbitraries.ts';
import { printExpr } from '../../test/print-expr.ts';
import { QueryError, type QueryErrorCode, type QueryPath } from '../errors.ts';
import { GRAMMAR } from './grammar.ts';
import { DEFAULT_QUERY_LIMITS } from './limits.ts';
import { parseExpr, parseQuery } from './parse-expr.ts';

const field = { $getField: 'id' };
const one = { $literal: 1 };
const equal = { $eq: [field, one] };

function refusalOf(action: () => unknown): QueryError {
  try {
    action();
  } catch (error) {
    if (error instanceof QueryError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

const MALFORMED: readonly (readonly [name: string, expr: unknown, code: QueryErrorCode, tail: QueryPath])[] =
  [
    ['M1 unknown operator', { $nor: [equal] }, 'unknown_operator', ['$nor']],
    ['M2 one operand of two', { $eq: [field] }, 'missing', ['$eq', 1]],
    ['M2 no operand', { $eq: [] }, 'missing', ['$eq', 0]],
    ['M3 three operands of two', { $eq: [field, one, one] }, 'too_long', ['$eq']],
    ['M4 $not of an object', { $not: equal }, 'tuple_type', ['$not']],
    ['M5 $not of two', { $not: [equal, equal] }, 'too_long', ['$not']],
    ['M6 $in of a literal', { $in: [field, one] }, 'list_type', ['$in', 1]],
    ['M7 bare operands', { $eq: ['id', 'x'] }, 'object_type', ['$eq', 0]],
    ['M8 a literal at the top', { $literal: true }, 'operation_expected', []],
    ['M8 a field at the top', field, 'operation_expected', []],
    [
      'M9 unknown target',
      { $and: [{ $convert: { input: field, to: 'float' } }] },
      'literal_error',
      ['$and', 0, '$convert', 'to'],
    ],
    [
      'M10 a bare structure',
      { $eq: [field, { $literal: { a: 1 } }] },
      'literal_type',
      ['$eq', 1, '$literal'],
    ],
    ['M10 a bare list', { $eq: [field, { $literal: [1] }] }, 'literal_type', ['$eq', 1, '$literal']],
    [
      'M11 a wrapped structure',
      { $eq: [field, { $literal: { a: one } }] },
      'structured_literal',
      ['$eq', 1, '$literal'],
    ],
    [
      'M14 the object form of a field',
      { $eq: [{ $getField: { field: 'id' } }, one] },
      'string_type',
      ['$eq', 0, '$getField'],
    ],
    ['M15 two operators', { $and: [equal], $or: [equal] }, 'ambiguous_operator', []],
    ['an empty $and', { $and: [] }, 'empty_operation', ['$and']],
    ['an empty $or inside', { $and: [{ $or: [] }] }, 'empty_operation', ['$and', 0, '$or']],
    ['an operand that is null', { $and: [null] }, 'object_type', ['$and', 0]],
    ['an operand that is a list', { $and: [[]] }, 'object_type', ['$and', 0]],
    ['no operator', { $and: [{}] }, 'unknown_operator', ['$and', 0]],
    ['a missing argument', { $contains: { input: field } }, 'missing', ['$contains', 'substr']],
    [
      'an unknown argument',
      { $contains: { input: field, substr: one, fold: true } },
      'extra_forbidden',
      ['$contains', 'fold'],
    ],
    [
      'a flag that is none',
      { $contains: { input: field, substr: one, case_insensitive: 2 } },
      'bool_type',
      ['$contains', 'case_insensitive'],
    ],
    ['arguments as a list', { $contains: [field, one] }, 'object_type', ['$contains']],
    [
      'a number that is not finite',
      { $eq: [field, { $literal: Number.NaN }] },
      'finite_number',
      ['$eq', 1, '$literal'],
    ],
    [
      'an integer beyond all doubles',
      { $eq: [field, { $literal: 10n ** 400n }] },
      'finite_number',
      ['$eq', 1, '$literal'],
    ],
    ['NUL in a literal', { $eq: [field, { $literal: 'a\0' }] }, 'invalid_text', ['$eq', 1, '$literal']],
    [
      'half a surrogate pair',
      { $eq: [field, { $literal: '\ud800' }] },
      'invalid_text',
      ['$eq', 1, '$literal'],
    ],
    ['a key from the prototype', JSON.parse('{"$and":[{"__proto__":1}]}'), 'unknown_operator', ['$and', 0]],
  ];

describe('parseExpr', () => {
  it.each(MALFORMED)('refuses %s', (_, expr, code, tail) => {
    const error = refusalOf(() => parseExpr(expr));
    expect({ code: error.code, path: error.path }).toEqual({ code, path: ['query', '$expr', ...tail] });
  });

  it.each([
    [0.5, '; write a value as {"$literal": 0.5}'],
    [null, '; write a value as {"$literal": null}'],
    ['id', '; write a value as {"$literal": "id"}'],
    ['$payload.score', '; write a field as {"$getField": "payload.score"}'],
    ['x'.repeat(100), '$exists'],
    [[], '$exists'],
    [undefined, '$exists'],
    [1n, '$exists'],
  ])('says of the bare operand %s how it is written', (bare, ending) => {
    expect(refusalOf(() => parseExpr({ $not: [bare] })).message.endsWith(ending)).toBe(true);
  });

  it('names the number of operands as the original does', () => {
    const message = refusalOf(() => parseExpr({ $not: [equal, equal] })).message;
    expect(message).toBe('Tuple should have at most 1 item after validation, not 2');
  });

  it('distinguishes malformed from unanswerable', () => {
    expect(refusalOf(() => parseExpr({ $and: [] })).fault).toBe('unanswerable');
    expect(refusalOf(() => parseExpr({ $and: 1 })).fault).toBe('malformed');
  });

  it('takes keys without a dollar sign beside an operator as no part of the grammar', () => {
    expect(parseExpr({ ...equal, note: 1 })).toEqual(parseExpr(equal));
  });

  it.each([true, 1, 'yes', 'TRUE', 'on'])('reads %j as a true flag', flag => {
    const expr = { $contains: { input: field, substr: one, case_insensitive: flag } };
    expect(parseExpr(expr)).toMatchObject({ caseInsensitive: true });
  });

  it.each([false, null, 0, 'No'])('reads %j as a false flag', flag => {
    const expr = { $contains: { input: field, substr: one, case_insensitive: flag } };
    expect(parseExpr(expr)).toMatchObject({ caseInsensitive: false });
  });

  it('freezes every node', () => {
    const tree = parseExpr({ $and: [equal] });
    expect(Object.isFrozen(tree)).toBe(true);
    expect(tree.kind === 'logic' && Object.isFrozen(tree.operands)).toBe(true);
  });

  it('gives back any printed tree', () => {
    fc.assert(
      fc.property(anyExpr, tree => {
        expect(parseExpr(JSON.parse(JSON.stringify(printExpr(tree))))).toEqual(
          JSON.parse(JSON.stringify(tree)),
        );
      }),
      { numRuns: 1_000 },
    );
  });

  it('answers any JSON with a tree or a QueryError', () => {
    const names = GRAMMAR.map(rule => rule.name);
    const { value } = fc.letrec<{ value: unknown }>(tie => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constant(null)),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...names, 'input', 'to', 'substr', '__proto__'), tie('value'), {
          maxKeys: 2,
        }),
      ),
    }));
    fc.assert(
      fc.property(value, input => {
        try {
          parseQuery({ $expr: input });
        } catch (error) {
          expect(error).toBeInstanceOf(QueryError);
        }
      }),
      { numRuns: 3_000 },
    );
  });
});

describe('parseQuery', () => {
  it('takes null and undefined as no filter', () => {
    expect(parseQuery(null)).toBeNull();
    expect(parseQuery(undefined)).toBeNull();
  });

  it.each([
    ['M12 a second key', { $expr: equal, x: 1 }, 'extra_forbidden', ['query', 'x']],
    ['M13 no $expr', {}, 'missing', ['query', '$expr']],
    ['a list', [], 'object_type', ['query']],
    ['a text', 'x', 'object_type', ['query']],
  ])('refuses %s', (_, query, code, path) => {
    expect(refusalOf(() => parseQuery(query))).toMatchObject({ code, path });
  });
});

describe('limits', () => {
  const nested = (depth: number) => {
    let expr: unknown = equal;
    for (let level = 2; level < depth; level += 1) expr = { $not: [expr] };
    return expr;
  };

  it('takes the deepest allowed expression and refuses one level more', () => {
    const { maxDepth } = DEFAULT_QUERY_LIMITS;
    expect(parseExpr(nested(maxDepth)).kind).toBe('not');
    expect(refusalOf(() => parseExpr(nested(maxDepth + 1))).code).toBe('too_deep');
  });

  it('refuses a hundred thousand levels without exhausting the stack', () => {
    expect(refusalOf(() => parseExpr(nested(100_000))).code).toBe('too_deep');
  });

  it('refuses a long list before looking at its elements', () => {
    const list = new Array(DEFAULT_QUERY_LIMITS.maxListLength + 1).fill('not an operand');
    expect(refusalOf(() => parseExpr({ $in: [field, list] }))).toMatchObject({
      code: 'too_large',
      path: ['query', '$expr', '$in', 1],
    });
  });

  it('counts the nodes of all branches together', () => {
    const branch = { $or: new Array(900).fill({ $eq: [one, one] }) };
    expect(refusalOf(() => parseExpr({ $and: [branch, branch] })).code).toBe('too_large');
  });

  it('refuses long texts and long field names', () => {
    const text = 'x'.repeat(DEFAULT_QUERY_LIMITS.maxTextLength + 1);
    expect(refusalOf(() => parseExpr({ $eq: [field, { $literal: text }] })).code).toBe('too_large');
    expect(refusalOf(() => parseExpr({ $eq: [{ $getField: text }, one] })).code).toBe('too_large');
  });
});
