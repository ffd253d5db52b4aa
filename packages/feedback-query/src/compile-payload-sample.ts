// The rows payload-schema discovery looks at: of each trigger_ref in a time range, the newest payload.
// Rows without a trigger_ref are one group. Newest groups come first, so a small sample sees what is used now.
// The choice is made on keys alone, which an index holds; payloads are then fetched for the chosen rows only.
import type { CompiledQuery } from 'kysely';
import type { BoundCondition, BoundValue } from './bound-node.ts';
import { compileCondition } from './compile-expr.ts';
import type { CompileOptions } from './compile-query.ts';
import { isStorableMoment } from './datetime-literal.ts';
import { type QueryDialect, TABLE_ALIAS } from './dialects/dialect.ts';
import { QueryError } from './errors.ts';
import { COLUMNS } from './fields.ts';
import { textParameter } from './operand.ts';
import { fragment, type SqlFragment, toExpression, trustedSql } from './sql-fragment.ts';
import { sqlWriter } from './sql-writer.ts';
import { checkStorableText } from './storable-text.ts';
import { compareCreated } from './time-window.ts';

/** Most refs of one sample. */
export const MAX_SAMPLE_LIMIT = 5_000;
export const DEFAULT_SAMPLE_LIMIT = 2_000;

export interface PayloadSampleQuery {
  readonly projectId: string;
  /** Inclusive. Unit: milliseconds since 1970. */
  readonly startMs: number;
  /** Exclusive. Unit: milliseconds since 1970. */
  readonly endMs: number;
  readonly feedbackType?: string | null;
  /** Exact, or all versions of an object when it ends in `:*`. */
  readonly triggerRef?: string | null;
  /** Most distinct refs, 1 to `MAX_SAMPLE_LIMIT`. */
  readonly sampleLimit?: number;
}

/** A chosen row. */
export interface SampledKey {
  readonly id: string;
  /** ISO 8601 with milliseconds, UTC. */
  readonly created_at: string;
}

/** One sampled payload, as JSON text. */
export interface SampledPayload {
  readonly payload: string;
}

function column(name: string): SqlFragment {
  return trustedSql(`${TABLE_ALIAS}.${name}`);
}

/** 1 for the newest row of each trigger_ref; null groups with null. */
const PLACE_IN_GROUP = fragment`row_number() OVER (PARTITION BY ${column('trigger_ref')} ORDER BY ${column('created_at')} DESC, ${column('id')} DESC)`;

/**
 * Compiles the choice of rows of one project, newest first.
 *
 * Throws: `QueryError` `int_type`, `invalid_datetime` or `invalid_text`.
 */
export function compilePayloadSampleQuery(
  query: PayloadSampleQuery,
  dialect: QueryDialect,
  options: CompileOptions = {},
): CompiledQuery<SampledKey> {
  const sampleLimit = query.sampleLimit ?? DEFAULT_SAMPLE_LIMIT;
  if (!Number.isSafeInteger(sampleLimit) || sampleLimit < 1 || sampleLimit > MAX_SAMPLE_LIMIT) {
    throw new QueryError('int_type', ['sample_limit'], `A whole number from 1 to ${MAX_SAMPLE_LIMIT}`);
  }
  const syntax = dialect.createSyntax();
  const ranked = sqlWriter(dialect)
    .selectFrom(`${options.tableName ?? 'feedback'} as ${TABLE_ALIAS}`)
    .select([
      toExpression<string>(column('id')).as('id'),
      toExpression(column('created_at')).as('created_at'),
      toExpression(column('trigger_ref')).as('trigger_ref'),
      toExpression<number>(PLACE_IN_GROUP).as('place'),
    ])
    .where(toExpression<boolean>(compileCondition(sampleCondition(query), syntax)))
    .as('ranked');
  const statement = sqlWriter(dialect)
    .selectFrom(ranked)
    .select([
      'ranked.id',
      toExpression<string>(syntax.cast('datetime-to-text', trustedSql('ranked.created_at'))).as('created_at'),
    ])
    .where(toExpression<boolean>(trustedSql('ranked.place = 1')))
    .orderBy(toExpression(trustedSql('ranked.created_at DESC, ranked.trigger_ref')))
    .limit(toExpression<number>(syntax.rowCount(sampleLimit)))
    .compile();
  return statement as CompiledQuery<SampledKey>;
}

/**
 * Compiles the fetch of the payloads of chosen rows, in no order.
 * @param keys At least one; neighbours in time, so that a table in the order of time is read in one place.
 */
export function compileSampledPayloadsQuery(
  projectId: string,
  keys: readonly SampledKey[],
  dialect: QueryDialect,
  options: CompileOptions = {},
): CompiledQuery<SampledPayload> {
  const moments = keys.map(key => Date.parse(key.created_at));
  const operands: BoundCondition[] = [
    equal('project_id', projectId),
    compareCreated('gte', Math.min(...moments)),
    compareCreated('lte', Math.max(...moments)),
    { kind: 'one-of', value: columnValue('id'), list: keys.map(({ id }) => textParameter(id)) },
  ];
  const condition: BoundCondition = { kind: 'logic', operator: 'and', operands };
  const statement = sqlWriter(dialect)
    .selectFrom(`${options.tableName ?? 'feedback'} as ${TABLE_ALIAS}`)
    .select(toExpression<string>(column('payload_dump')).as('payload'))
    .where(toExpression<boolean>(compileCondition(condition, dialect.createSyntax())))
    .compile();
  return statement as CompiledQuery<SampledPayload>;
}

function sampleCondition(query: PayloadSampleQuery): BoundCondition {
  const operands: BoundCondition[] = [
    equal('project_id', query.projectId),
    compareCreated('gte', checkMoment(query.startMs, 'start')),
    compareCreated('lt', checkMoment(query.endMs, 'end')),
  ];
  if (query.feedbackType != null) operands.push(equal('feedback_type', query.feedbackType));
  if (query.triggerRef != null) operands.push(triggerCondition(query.triggerRef));
  return { kind: 'logic', operator: 'and', operands };
}

/** `mon:*` keeps its colon, so that it covers the versions of `mon` and not those of `monday`. */
function triggerCondition(triggerRef: string): BoundCondition {
  if (!triggerRef.endsWith(':*')) return equal('trigger_ref', triggerRef);
  checkStorableText(triggerRef, ['trigger_ref']);
  return {
    kind: 'text-match',
    operator: 'startsWith',
    input: columnValue('trigger_ref'),
    needle: textParameter(triggerRef.slice(0, -1)),
    foldCase: false,
  };
}

function equal(name: string, value: string): BoundCondition {
  checkStorableText(value, [name]);
  return {
    kind: 'compare',
    operator: 'eq',
    type: 'text',
    left: columnValue(name),
    right: textParameter(value),
  };
}

function checkMoment(epochMs: number, name: string): number {
  if (isStorableMoment(epochMs)) return epochMs;
  throw new QueryError('invalid_datetime', [name], 'A moment lies in the years 1 to 9999');
}

function columnValue(name: string): BoundValue {
  const column = COLUMNS.find(item => item.name === name)!;
  return { kind: 'column', column };
}
