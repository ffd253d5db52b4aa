// The sample for payload schema discovery: the newest payload of each trigger_ref in a time range. Rows without a
// trigger_ref are one group. Newest groups come first, so a small sample reflects current payloads. One query selects
// keys (created_at and id), a second reads the payloads of these keys only.
import type { CompiledQuery } from 'kysely';
import type { BoundCondition, BoundValue } from '../bind/bound-node.ts';
import { COLUMNS } from '../bind/columns.ts';
import { isStorableMoment } from '../bind/datetime-literal.ts';
import { textParameter } from '../bind/operand.ts';
import { compareCreated } from '../bind/time-window.ts';
import { QueryError } from '../errors.ts';
import { checkStorableText } from '../parse/limits.ts';
import { compileCondition } from './compile-expr.ts';
import type { CompileOptions } from './compile-query.ts';
import { type QueryDialect, TABLE_ALIAS } from './dialect.ts';
import { fragment, type SqlFragment, toExpression, trustedSql } from './sql-fragment.ts';
import { sqlWriter } from './sql-writer.ts';

/** Maximum number of refs of one sample. */
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
  /** Maximum number of distinct refs, 1 to `MAX_SAMPLE_LIMIT`. */
  readonly sampleLimit?: number;
}

/** Key of a sampled row: created_at and id as one text; the maximum of a group is its newest row. */
export interface SampledKey {
  readonly newest: string;
}

/** One sampled payload, as JSON text. */
export interface SampledPayload {
  readonly payload: string;
}

function column(name: string): SqlFragment {
  return trustedSql(`${TABLE_ALIAS}.${name}`);
}

/**
 * Compiles the query for the keys of a sample, newest first.
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
    throw new QueryError(
      'int_type',
      ['sample_limit'],
      `Input should be a whole number from 1 to ${MAX_SAMPLE_LIMIT}`,
    );
  }
  const syntax = dialect.createSyntax();
  const statement = sqlWriter(dialect)
    .selectFrom(`${options.tableName ?? 'feedback'} as ${TABLE_ALIAS}`)
    .select(
      toExpression<string>(fragment`max(${syntax.momentAndId(column('created_at'), column('id'))})`).as(
        'newest',
      ),
    )
    .where(toExpression<boolean>(compileCondition(sampleCondition(query), syntax)))
    // GROUP BY puts all nulls into one group.
    .groupBy(toExpression(column('trigger_ref')))
    .orderBy(toExpression(fragment`max(${column('created_at')}) DESC, ${column('trigger_ref')} NULLS LAST`))
    .limit(toExpression<number>(syntax.rowCount(sampleLimit)))
    .compile();
  return statement as CompiledQuery<SampledKey>;
}

/**
 * Compiles the query for the payloads of sampled keys, in no order.
 * @param keys At least one; adjacent in time, so that a table sorted by time is read in one range.
 */
export function compileSampledPayloadsQuery(
  projectId: string,
  keys: readonly SampledKey[],
  dialect: QueryDialect,
  options: CompileOptions = {},
): CompiledQuery<SampledPayload> {
  const rows = keys.map(readKey);
  const moments = rows.map(({ epochMs }) => epochMs);
  const operands: BoundCondition[] = [
    equal('project_id', projectId),
    compareCreated('gte', Math.min(...moments)),
    compareCreated('lte', Math.max(...moments)),
    { kind: 'one-of', value: columnValue('id'), list: rows.map(({ id }) => textParameter(id)) },
  ];
  const condition: BoundCondition = { kind: 'logic', operator: 'and', operands };
  const statement = sqlWriter(dialect)
    .selectFrom(`${options.tableName ?? 'feedback'} as ${TABLE_ALIAS}`)
    .select(toExpression<string>(column('payload_dump')).as('payload'))
    .where(toExpression<boolean>(compileCondition(condition, dialect.createSyntax())))
    .compile();
  return statement as CompiledQuery<SampledPayload>;
}

/** `2026-01-01T00:00:00.000Z <id>`, or with the database's own date format. */
const KEY = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d+)?)Z? ([\s\S]*)$/;

function readKey({ newest }: SampledKey): { readonly epochMs: number; readonly id: string } {
  const [, day, time, id] = KEY.exec(newest)!;
  return { epochMs: Date.parse(`${day}T${time}Z`), id: id! };
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

/** The prefix of `mon:*` includes the colon, so that it matches versions of `mon`, not of `monday`. */
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
  throw new QueryError('invalid_datetime', [name], 'Input should be a date in the years 1 to 9999');
}

function columnValue(name: string): BoundValue {
  const column = COLUMNS.find(item => item.name === name)!;
  return { kind: 'column', column };
}
