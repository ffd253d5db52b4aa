// One body of tests that every database must pass: the vectors, and random expressions against the evaluator.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bindExpr } from '../src/bind-expr.ts';
import { QueryError } from '../src/errors.ts';
import type { ExprNode } from '../src/expr-node.ts';
import { anyExpr, anyRows } from './arbitraries.ts';
import { VECTOR_ROWS } from './feedback-row.ts';
import { printExpr } from './print-expr.ts';
import { QUERY_VECTORS } from './query-vectors.ts';
import { matches } from './reference-evaluator.ts';
import { idsOf, type TestDatabase } from './test-database.ts';

export interface ConformanceOptions {
  /** Random expressions to try. */
  readonly caseCount: number;
}

export function describeConformance(
  name: string,
  open: () => Promise<TestDatabase>,
  options: ConformanceOptions,
): void {
  describe(`${name} conformance`, () => {
    let database: TestDatabase;
    beforeAll(async () => {
      database = await open();
    }, 60_000);
    afterAll(() => database.close());

    describe('vectors', () => {
      beforeAll(async () => {
        await database.clear();
        await database.insert(VECTOR_ROWS);
      });
      it.each(QUERY_VECTORS)('%s %j', async (_, expr, expected) => {
        if (typeof expected === 'string') {
          await expect(idsOf(database, expr)).rejects.toMatchObject({ code: expected });
        } else {
          expect(await idsOf(database, expr)).toEqual(expected);
        }
      });
    });

    it('gives the rows the evaluator gives, for any expression over any rows', async () => {
      const property = fc.asyncProperty(
        anyRows,
        fc.array(anyExpr, { minLength: 50, maxLength: 50 }),
        async (rows, expressions) => {
          await database.clear();
          await database.insert(rows);
          const scope = rows.filter(row => row.project_id === 'acme/app');
          for (const expression of expressions) {
            if (!binds(expression)) continue;
            const expected = scope.filter(row => matches(expression, row)).map(row => row.id);
            const found = await idsOf(database, printExpr(expression));
            expect({ expression, ids: found.sort() }).toEqual({ expression, ids: expected });
          }
        },
      );
      await fc.assert(property, { numRuns: Math.ceil(options.caseCount / 50) });
    }, 120_000);
  });
}

/** Whether the expression has a meaning; the generator is allowed a few that have none. */
function binds(expression: ExprNode): boolean {
  try {
    bindExpr(expression);
    return true;
  } catch (error) {
    if (error instanceof QueryError && error.fault === 'unanswerable') return false;
    throw error;
  }
}
