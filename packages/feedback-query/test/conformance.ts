// One body of tests that every database must pass: the vectors, and random expressions against the evaluator.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bindExpr } from '../src/bind/bind-expr.ts';
import { QueryError } from '../src/errors.ts';
import {
  CONVERT_TARGETS,
  compareNode,
  convertNode,
  type ExprNode,
  existsNode,
  fieldNode,
  literalNode,
  membershipNode,
  notNode,
  sizeNode,
} from '../src/parse/expr-node.ts';
import { anyExpr, anyRows, anySortKeys, NUMBERS, TEXTS } from './arbitraries.ts';
import { feedbackRow, VECTOR_ROWS } from './feedback-row.ts';
import { describeHostile } from './hostile-conformance.ts';
import { printExpr } from './print-expr.ts';
import { QUERY_VECTORS } from './query-vectors.ts';
import { matches } from './reference-evaluator.ts';
import { orderedIds } from './reference-order.ts';
import { describeRequests } from './request-conformance.ts';
import { ask, idsByPage, idsOf, type TestDatabase } from './test-database.ts';

/** How many random cases a database is tried with. */
export interface CaseCounts {
  readonly expressions: number;
  /** Hostile texts and keys each. */
  readonly hostile: number;
}

export function describeConformance(
  name: string,
  open: () => Promise<TestDatabase>,
  counts: CaseCounts,
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

    describeRequests(() => database);
    describeHostile(() => database, counts.hostile);

    it('compares and converts every trap value with every other as the evaluator does', async () => {
      const payloads = [...TRAP_VALUES.map(v => ({ v })), {}, { v: [1, 'a'] }, { v: [] }, { v: { k: null } }];
      const rows = payloads.map((payload, index) =>
        feedbackRow({ id: `t${String(index).padStart(3, '0')}`, payload }),
      );
      await database.clear();
      await database.insert(rows);
      for (const expression of trapExpressions()) {
        if (!binds(expression)) continue;
        const ids = rows.filter(row => matches(expression, row)).map(row => row.id);
        expect({ expression, ids: await idsOf(database, printExpr(expression)) }).toEqual({
          expression,
          ids,
        });
      }
    }, 1_200_000);

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
      await fc.assert(property, { numRuns: Math.ceil(counts.expressions / 50) });
    }, 1_200_000);

    it('orders any rows by any keys as the evaluator does, in pages as in one answer', async () => {
      const property = fc.asyncProperty(
        anyRows,
        anySortKeys,
        fc.integer({ min: 1, max: 5 }),
        async (rows, sortBy, pageSize) => {
          await database.clear();
          await database.insert(rows);
          const expected = orderedIds(
            rows.filter(row => row.project_id === 'acme/app'),
            sortBy,
          );
          const whole = await ask(database, { projectId: 'acme/app', fields: ['id'], sortBy });
          expect(whole.map(row => row.id)).toEqual(expected);
          expect(await idsByPage(database, sortBy, pageSize)).toEqual(expected);
        },
      );
      await fc.assert(property, { numRuns: Math.ceil(counts.expressions / 20) });
    }, 1_200_000);
  });
}

const TRAP_VALUES = [...TEXTS, ...NUMBERS, true, false, null];

/** Every reading of a payload value against every literal, for equality and for order. */
function* trapExpressions(): Generator<ExprNode> {
  const value = fieldNode('payload.v');
  const inside = [fieldNode('payload.v.0'), fieldNode('payload.v.a'), existsNode(fieldNode('payload.v.0'))];
  const converted = CONVERT_TARGETS.map(to => convertNode(value, to));
  const readings = [value, ...inside, ...converted, sizeNode(value)];
  for (const reading of readings) {
    yield notNode(reading);
    yield compareNode('eq', reading, value);
    yield compareNode('gt', value, reading);
    for (const literal of TRAP_VALUES) {
      yield compareNode('eq', reading, literalNode(literal));
      yield compareNode('gt', reading, literalNode(literal));
      yield membershipNode('in', compareNode('eq', reading, literalNode(literal)), [value]);
      // Several elements of one type are looked up together.
      yield membershipNode('in', reading, [literalNode(literal), literalNode(literal), literalNode(null)]);
    }
  }
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
