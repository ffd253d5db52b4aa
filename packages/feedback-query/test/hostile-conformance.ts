// Hostile input: it is refused or returns correct rows, in bounded time and with SQL of bounded size.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bindFeedbackQuery } from '../src/bind/bind-query.ts';
import { explainFeedbackQuery } from '../src/compile/compile-query.ts';
import { QueryError } from '../src/errors.ts';
import { DEFAULT_QUERY_LIMITS } from '../src/parse/limits.ts';
import { feedbackRow, VECTOR_ROWS } from './feedback-row.ts';
import { ask, idsOf, type TestDatabase } from './test-database.ts';

const projectId = 'acme/app';
const get = (name: string) => ({ $getField: name });
const literal = (value: unknown) => ({ $literal: value });
const { maxDepth, maxListLength } = DEFAULT_QUERY_LIMITS;

/** Texts of characters with a meaning in SQL or in JSON paths. */
const hostileText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "'",
        '"',
        '`',
        '\\',
        ';',
        '--',
        '/*',
        '$',
        '[',
        ']',
        '{',
        '}',
        '.',
        '?',
        '$1',
        '{p1:String}',
      ),
      fc.constantFrom(
        '\0',
        '\ud800',
        '\u202e',
        '\uffff',
        '👍',
        '\n',
        '%',
        '_',
        '*',
        '#-1',
        ' OR 1=1 ',
        'NULL',
      ),
      fc.string({ unit: 'binary', maxLength: 2 }),
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map(parts => parts.join(''));

/** The result of `action`, or the code of its QueryError. */
async function outcome<T>(action: () => Promise<T>): Promise<T | string> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof QueryError) return error.code;
    throw error;
  }
}

/** Hostile requests against an open database; `caseCount` bounds each random test. */
export function describeHostile(open: () => TestDatabase, caseCount: number): void {
  describe('hostile input', { timeout: 1_200_000 }, () => {
    it('finds a hostile text by equality and by substring, or refuses it', async () => {
      const property = fc.asyncProperty(hostileText, async text => {
        const isStorable = text.isWellFormed() && !text.includes('\0');
        const hostile = `hostile/${isStorable ? text : 'x'}`;
        await open().clear();
        await open().insert(VECTOR_ROWS);
        await open().insert([
          feedbackRow({
            id: 'h1',
            project_id: hostile,
            creator: hostile,
            payload: { v: hostile, [hostile]: 1 },
          }),
        ]);
        for (const expr of [
          { $eq: [get('payload.v'), literal(`hostile/${text}`)] },
          { $in: [get('creator'), [literal(`hostile/${text}`)]] },
          { $contains: { input: get('payload.v'), substr: literal(text) } },
          {
            $startsWith: {
              input: get('payload'),
              prefix: literal(JSON.stringify({ v: hostile }).slice(0, -1)),
            },
          },
        ]) {
          const found = await outcome(() => idsOf(open(), expr, hostile));
          const expected = isStorable || '$startsWith' in expr ? ['h1'] : 'invalid_text';
          expect(found).toEqual(expected);
        }
      });
      await fc.assert(property, { numRuns: caseCount });
    });

    it('reads a payload under any key it was stored under, or refuses the name', async () => {
      const property = fc.asyncProperty(hostileText, async key => {
        const name = `payload.${key.replaceAll('.', '\\.')}`;
        const isReadable =
          key.isWellFormed() && !key.includes('\0') && !/^[+-]?\d+$/.test(key) && !key.includes('\\.');
        await open().clear();
        await open().insert([feedbackRow({ id: 'h1', payload: isReadable ? { [key]: 'here' } : {} })]);
        const rows = await outcome(() =>
          ask(open(), { projectId, fields: [name], sortBy: [{ field: name }] }),
        );
        if (isReadable) expect(rows).toEqual([{ [name]: 'here' }]);
        else expect(typeof rows === 'string' || rows.length === 1).toBe(true);
      });
      await fc.assert(property, { numRuns: caseCount });
    });

    it('never leaves the project, whatever the expression says', async () => {
      await open().clear();
      await open().insert(VECTOR_ROWS);
      for (const expr of [
        { $or: [{ $eq: [get('project_id'), literal('acme/other')] }, { $and: [literal(true)] }] },
        { $not: [{ $eq: [get('project_id'), literal('acme/app')] }] },
        { $or: [literal(1), literal('x')] },
        { $ne: [get('id'), literal('nope')] },
      ]) {
        expect(await idsOf(open(), expr)).not.toContain('f10');
        expect(await idsOf(open(), expr, "acme/app' OR '1'='1")).toEqual([]);
      }
    });

    it('runs the largest lists and the widest and deepest expressions', async () => {
      const many = <T>(count: number, make: (index: number) => T) =>
        Array.from({ length: count }, (_, index) => make(index));
      const equalId = (index: number) => ({ $eq: [get('id'), literal(`f${index}`)] });
      const deep = (make: (inner: unknown) => unknown, levels: number, start: unknown = equalId(1)) =>
        many(levels, index => index).reduce<unknown>(inner => make(inner), start);
      const largest = [
        { $in: [get('payload.score'), many(maxListLength, literal)] },
        { $nin: [get('id'), many(maxListLength, index => literal(index % 2 === 0 ? 'x' : null))] },
        { $and: many(600, equalId) },
        { $or: many(600, equalId) },
        deep(inner => ({ $not: [inner] }), maxDepth - 2),
        deep(inner => ({ $and: [inner, literal(1)] }), maxDepth - 3),
        deep(inner => ({ $eq: [inner, literal(true)] }), maxDepth - 3),
        deep(inner => ({ $in: [inner, [literal(true), get('payload.ok'), literal(0)]] }), maxDepth - 3),
        deep(inner => ({ $contains: { input: inner, substr: inner } }), 6),
        { $and: [deep(input => ({ $convert: { input, to: 'bool' } }), maxDepth - 3, get('creator'))] },
        {
          $and: [
            deep(
              input => ({ $convert: { input: { $convert: { input, to: 'int' } }, to: 'string' } }),
              Math.floor((maxDepth - 3) / 2),
              get('payload.rank'),
            ),
          ],
        },
      ];
      for (const $expr of largest) {
        const { sql } = explainFeedbackQuery(
          bindFeedbackQuery({ projectId, query: { $expr } }),
          open().dialect,
        );
        expect(sql.length).toBeLessThan(100_000);
        await idsOf(open(), $expr);
      }
    });

    it('refuses too many fields and sort keys', () => {
      const names = new Array(101).fill('id');
      expect(() => bindFeedbackQuery({ projectId, fields: names })).toThrowError(
        expect.objectContaining({ code: 'too_large', path: ['fields'] }),
      );
      expect(() => bindFeedbackQuery({ projectId, sortBy: names.map(field => ({ field })) })).toThrowError(
        expect.objectContaining({ code: 'too_large', path: ['sort_by'] }),
      );
    });

    it('refuses NUL in the project and in the cursor', () => {
      expect(() => bindFeedbackQuery({ projectId: 'a\0' })).toThrowError(
        expect.objectContaining({ code: 'invalid_text', path: ['project_id'] }),
      );
      const after = ['2026-01-01T00:00:00.000Z', 'a\0'];
      const bound = bindFeedbackQuery({ projectId, after });
      expect(() => explainFeedbackQuery(bound, open().dialect)).toThrowError(
        expect.objectContaining({ code: 'invalid_text' }),
      );
    });
  });
}
