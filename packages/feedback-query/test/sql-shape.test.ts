// SQL injection: the SQL text depends only on the shape of a query, never on values of the caller.
import fc from 'fast-check';
import { runs } from 'test-runs';
import { describe, expect, it } from 'vitest';
import { bindFeedbackQuery, type FeedbackQuery } from '../src/bind/bind-query.ts';
import { explainFeedbackQuery } from '../src/compile/compile-query.ts';
import { clickHouseDialect } from '../src/dialects/clickhouse.ts';
import { postgresDialect } from '../src/dialects/postgres.ts';
import { sqliteDialect } from '../src/dialects/sqlite.ts';
import { QueryError } from '../src/errors.ts';
import { anyExpr } from './arbitraries.ts';
import { printExpr } from './print-expr.ts';

const DIALECTS = [sqliteDialect, postgresDialect, clickHouseDialect];

const explain = (request: FeedbackQuery, dialect = sqliteDialect) =>
  explainFeedbackQuery(bindFeedbackQuery(request), dialect);

/** The printed expression with every literal replaced by another of the same type. */
function withOtherLiterals(value: unknown, turn: { next: number }): unknown {
  if (Array.isArray(value)) return value.map(item => withOtherLiterals(item, turn));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$literal' ? otherLiteral(inner, turn) : withOtherLiterals(inner, turn),
    ]),
  );
}

function otherLiteral(value: unknown, turn: { next: number }): unknown {
  turn.next += 1;
  if (typeof value === 'number') return turn.next * 1_000;
  if (typeof value === 'boolean') return !value;
  if (typeof value !== 'string') return value;
  const isDate = /^\d{4}-\d{2}-\d{2}/.test(value);
  return isDate ? '2019-03-04' : `'; DROP TABLE feedback; -- "\`{p1:String}$1? ${turn.next}`;
}

describe.each(DIALECTS)('$name', dialect => {
  it('keeps the SQL text when literals change', () => {
    const property = fc.property(anyExpr, tree => {
      const $expr = printExpr(tree);
      const other = withOtherLiterals($expr, { next: 0 });
      try {
        const first = explain({ projectId: 'a', query: { $expr } }, dialect);
        const second = explain({ projectId: "b'", query: { $expr: other } }, dialect);
        expect(second.sql).toBe(first.sql);
        expect(second.parameters).toHaveLength(first.parameters.length);
      } catch (error) {
        if (!(error instanceof QueryError)) throw error;
      }
    });
    fc.assert(property, { numRuns: runs({ daily: 200, full: 1_000 }) });
  });

  it('keeps the SQL text when the window or the cursor changes', () => {
    const at = (limit: number, offset: number, id: string) =>
      explain({ projectId: 'p', limit, offset, after: ['2026-01-01T00:00:00.000Z', id] }, dialect).sql;
    expect(at(1, 0, 'a')).toBe(at(10_000, 99, "b'"));
  });

  it('writes a cursor of twice as many sort keys in little more than twice the text', () => {
    const lengthOf = (count: number) => {
      const sortBy = Array.from({ length: count }, (_, index) => ({
        field: `scorer_ratings.key${10 + index}`,
      }));
      const after = [...sortBy.map(() => 1), '2026-01-01T00:00:00.000Z', 'a'];
      return explain({ projectId: 'p', sortBy, after }, dialect).sql.length;
    };
    expect(lengthOf(80) / lengthOf(40)).toBeLessThan(2.4);
  });

  it('never writes a key that is not plain into the text', () => {
    const keys = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
      .filter(key => !/^[\w.+-]*$/.test(key));
    const property = fc.property(keys, key => {
      const written = key.replaceAll('.', '\\.');
      const request = (name: string): FeedbackQuery => ({
        projectId: 'p',
        fields: [`payload.${name}`, `scorer_ratings.${name}`],
        sortBy: [{ field: `payload.${name}` }],
        query: { $expr: { $eq: [{ $getField: `payload.${name}` }, { $literal: 1 }] } },
      });
      try {
        expect(explain(request(written), dialect).sql).toBe(explain(request('a b'), dialect).sql);
      } catch (error) {
        if (!(error instanceof QueryError)) throw error;
      }
    });
    fc.assert(property, { numRuns: runs({ daily: 100, full: 500 }) });
  });

  it('writes plain payload paths as literals, so that an expression index matches', () => {
    const { parameters } = explain({ projectId: 'p', fields: ['payload.output.score'] }, dialect);
    expect(parameters).not.toContain('output');
    expect(parameters.map(String).join()).not.toMatch(/score/);
  });
});
