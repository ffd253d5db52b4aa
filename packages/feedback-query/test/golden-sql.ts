// One query per kind of condition, compiled for each dialect. The golden file holds the reviewed SQL; regenerate it with
// `node --conditions=@ortler/source test/make-golden-sql.ts` and review the difference.
import { bindFeedbackQuery, type FeedbackQuery } from '../src/bind/bind-query.ts';
import {
  compilePayloadSampleQuery,
  compileSampledPayloadsQuery,
  type PayloadSampleQuery,
} from '../src/compile/compile-payload-sample.ts';
import { explainFeedbackQuery } from '../src/compile/compile-query.ts';
import { clickHouseDialect } from '../src/dialects/clickhouse.ts';
import { postgresDialect } from '../src/dialects/postgres.ts';
import { sqliteDialect } from '../src/dialects/sqlite.ts';

const get = (name: string) => ({ $getField: name });
const literal = (value: string | number | boolean | null) => ({ $literal: value });
const where = ($expr: unknown): FeedbackQuery => ({ projectId: 'p', fields: ['id'], query: { $expr } });

const QUERIES: Readonly<Record<string, FeedbackQuery>> = {
  'a text column': where({ $eq: [get('id'), literal('x')] }),
  'order of texts': where({ $lt: [get('creator'), literal('x')] }),
  'a negated nullable column': where({ $not: [{ $eq: [get('creator'), literal('x')] }] }),
  'a negated column that is never null': where({ $ne: [get('id'), literal('x')] }),
  absence: where({ $eq: [get('creator'), literal(null)] }),
  'a date': where({ $gte: [get('created_at'), literal('2026-01-07')] }),
  'a payload text': where({ $eq: [get('payload.a.b'), literal('x')] }),
  'a payload number': where({ $gt: [get('payload.score'), literal(0.5)] }),
  'a payload flag': where({ $eq: [get('payload.ok'), literal(true)] }),
  'a path into a list': where({ $eq: [get('payload.k.1.v'), literal('x')] }),
  'a key that is not plain': where({ $exists: get('payload.a b') }),
  'two payload paths': where({ $lt: [get('payload.a'), get('payload.b')] }),
  'a payload as condition': where({ $and: [get('payload.a')] }),
  'a literal as condition': where({ $and: [literal('x')] }),
  'size of a payload': where({ $gt: [{ $size: get('payload.a') }, literal(1)] }),
  'size of a list and of a map': where({
    $eq: [{ $size: get('scorer_tags') }, { $size: get('scorer_ratings') }],
  }),
  'a map value': where({ $gt: [get('scorer_ratings.k'), literal(1)] }),
  'a mixed list': where({ $in: [get('payload.a'), [literal('x'), literal('y'), literal(1), literal(null)]] }),
  'an empty list': where({ $in: [get('id'), []] }),
  'a shared value': where({ $in: [{ $size: get('payload.a') }, [literal(1), get('payload.b')]] }),
  'a substring in any case': where({
    $contains: { input: get('weave_ref'), substr: literal('x'), case_insensitive: true },
  }),
  'a prefix': where({ $startsWith: { input: get('weave_ref'), prefix: literal('x') } }),
  'a tag': where({ $contains: { input: get('scorer_tags'), substr: literal('x') } }),
  'a tag in any case': where({
    $contains: { input: get('scorer_tags'), substr: literal('x'), case_insensitive: true },
  }),
  'whole numbers as text': where({
    $eq: [
      { $convert: { input: { $convert: { input: get('creator'), to: 'int' } }, to: 'string' } },
      literal('1'),
    ],
  }),
  'a text as flag': where({ $and: [{ $convert: { input: get('creator'), to: 'bool' } }] }),
  'a date as text': where({ $contains: { input: get('created_at'), substr: literal('2026') } }),
  'every kind of field': {
    projectId: 'p',
    fields: ['id', 'created_at', 'payload', 'payload.a', 'scorer_tags', 'scorer_ratings', 'scorer_ratings.k'],
  },
  'a count': { projectId: 'p', fields: ['count(*)'], limit: 1 },
  'order by payload and column': {
    projectId: 'p',
    fields: ['id'],
    sortBy: [{ field: 'payload.x', direction: 'desc' }, { field: 'creator' }],
  },
  'rows after a cursor': {
    projectId: 'p',
    fields: ['id'],
    sortBy: [{ field: 'creator' }],
    after: ['Ann', '2026-01-01T00:00:00.000Z', 'f01'],
    withCursor: true,
  },
};

const SAMPLE: PayloadSampleQuery = {
  projectId: 'p',
  startMs: Date.UTC(2026, 0, 1),
  endMs: Date.UTC(2026, 1, 1),
  feedbackType: 'custom',
  triggerRef: 'weave:///a/b/object/mon:*',
};

const SAMPLED = [2, 1].map(day => ({ newest: `2026-01-0${day} 00:00:00 f ${day}` }));

export interface GoldenStatement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** SQL of every query by dialect and query name. */
export function compileGoldenSql(): Readonly<Record<string, Readonly<Record<string, GoldenStatement>>>> {
  const dialects = [sqliteDialect, postgresDialect, clickHouseDialect];
  const written = (parameters: readonly unknown[]) =>
    parameters.map(value => (typeof value === 'bigint' ? `${value}n` : value));
  return Object.fromEntries(
    dialects.map(dialect => {
      const statements: Record<string, GoldenStatement> = {};
      for (const [name, request] of Object.entries(QUERIES)) {
        const { sql, parameters } = explainFeedbackQuery(bindFeedbackQuery(request), dialect);
        statements[name] = { sql, parameters: written(parameters) };
      }
      for (const [name, { sql, parameters }] of [
        ['a payload sample', compilePayloadSampleQuery(SAMPLE, dialect)],
        ['sampled payloads', compileSampledPayloadsQuery('p', SAMPLED, dialect)],
      ] as const)
        statements[name] = { sql, parameters: written(parameters) };
      return [dialect.name, statements];
    }),
  );
}
