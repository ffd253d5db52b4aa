// The feedback store in SQLite and PostgreSQL. Queries run on connections of their own; each write is one transaction.

import { ApiError, type FeedbackRecord, type FeedbackStore, type InsertedFeedback } from '@ortler/api';
import {
  type BoundFeedbackQuery,
  bindFeedbackQuery,
  compileFeedbackQuery,
  createInterruptibleSqliteDialect,
  postgresDialect,
  type ResultRow,
  sqliteDialect,
} from '@ortler/feedback-query';
import type { Transaction } from 'kysely';
import type { Database, DatabaseKind } from '../../db/database.ts';
import { isLostRace, LostRaceError } from '../../db/database-errors.ts';
import { guardedName, guardFor, READER_FUNCTIONS } from '../../db/sqlite/guarded-tables.ts';
import type { FeedbackTable } from '../../db/tables/feedback.ts';
import type { Tables } from '../../db/tables.ts';
import { asNew, asStored, isSameFeedback, toStoredRow } from './inserted-feedback.ts';
import { toPublicFailure } from './public-failure.ts';
import { samplePayloads } from './sample-payloads.ts';
import { toFeedbackPage } from './to-feedback-page.ts';

const sqliteReaders = createInterruptibleSqliteDialect(READER_FUNCTIONS);

/** Rows per statement: 25 columns each, and SQLite accepts 32,766 parameters. */
const ROWS_PER_STATEMENT = 1_000;
/** Attempts of a write that others of the same ids come in the way of. */
const MAX_ATTEMPTS = 10;

/** Creates the store on a migrated database. */
export function createFeedbackStore(database: Database): FeedbackStore {
  const { kind, queries } = database;
  const dialect = kind === 'sqlite' ? sqliteDialect : postgresDialect;
  // SQLite reads through a view that enforces the time limit, with functions that may stop the statement; PostgreSQL has a statement
  // timeout and can be cancelled.
  const readDialect = kind === 'sqlite' ? sqliteReaders : postgresDialect;
  const readOptions = { tableName: kind === 'sqlite' ? guardedName('feedback') : 'feedback' };

  const compile = (query: BoundFeedbackQuery) => {
    const compiled = compileFeedbackQuery(query, readDialect, readOptions);
    const guard = guardFor(compiled.statement.parameters.length);
    if (kind !== 'sqlite' || guard === 'guarded') return compiled;
    return compileFeedbackQuery(query, readDialect, { tableName: guardedName('feedback', guard) });
  };
  const withPublicErrors = async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work;
    } catch (error) {
      throw toPublicFailure(error);
    }
  };

  /** The whole stored rows of the records, by id. */
  const findStored = async (
    trx: Pick<Transaction<Tables>, 'executeQuery'>,
    records: readonly FeedbackRecord[],
  ): Promise<ReadonlyMap<string, ResultRow>> => {
    const [first] = records;
    const query = bindFeedbackQuery({
      projectId: first!.project_id,
      query: { $expr: { $in: [{ $getField: 'id' }, records.map(({ id }) => ({ $literal: id }))] } },
    });
    const { statement, columns } = compileFeedbackQuery(query, dialect);
    const { rows } = await trx.executeQuery(statement);
    return new Map(rows.map(row => toStoredRow(columns, row)).map(row => [String(row.id), row]));
  };

  const insertAll = async (
    trx: Transaction<Tables>,
    records: readonly FeedbackRecord[],
  ): Promise<readonly InsertedFeedback[]> => {
    const inserted = new Map<FeedbackRecord, InsertedFeedback>();
    for (const group of groupRecords(records)) {
      const newRows = await trx
        .insertInto('feedback')
        // In one order, so that two batches of the same ids do not wait for each other.
        .values(group.toSorted(byId).map(record => toStoredFeedback(kind, record)))
        .onConflict(conflict => conflict.columns(['project_id', 'id']).doNothing())
        .returning('id')
        .execute();
      const newIds = new Set(newRows.map(({ id }) => id));
      const others = group.filter(({ id }) => !newIds.has(id));
      const stored = others.length === 0 ? null : await findStored(trx, others);
      for (const record of group) {
        if (newIds.has(record.id)) {
          inserted.set(record, asNew(record));
          continue;
        }
        const row = stored?.get(record.id);
        // PostgreSQL: it was there at the insert, and another transaction has deleted it since.
        if (row === undefined) throw new LostRaceError(`Feedback ${record.id} was deleted`);
        inserted.set(record, asStored(record, row));
      }
    }
    return records.map(record => inserted.get(record)!);
  };

  /**
   * A transaction, which is run again where another one came in its way. On SQLite none can. Those that are run again take turns: of
   * many writers of one id each would otherwise lose to the others over and over.
   */
  const write = async <Result>(work: (trx: Transaction<Tables>) => Promise<Result>): Promise<Result> => {
    for (let attempt = 1; ; attempt++)
      try {
        return await (attempt === 1
          ? database.transaction(work)
          : database.exclusively('contended feedback', work));
      } catch (error) {
        if (!isLostRace(error) || attempt === MAX_ATTEMPTS) throw toPublicFailure(error);
      }
  };

  return {
    queryConcurrency: queries.concurrency,

    async query(query, { maxBytes, signal }) {
      const { statement, columns, toCursor } = compile(query);
      const page = await withPublicErrors(queries.readPage(statement, { columns, maxBytes }, signal));
      return toFeedbackPage(page, toCursor);
    },

    samplePayloads: (query, signal) =>
      samplePayloads(query, dialect, readOptions, statement =>
        withPublicErrors(queries.readRows(statement, signal)),
      ),

    insert: async records => (records.length === 0 ? [] : write(trx => insertAll(trx, records))),

    async isStored(record) {
      const row = (await findStored(database.db, [record])).get(record.id);
      return row !== undefined && isSameFeedback(record, row);
    },

    replace: (removedId, record) =>
      write(async trx => {
        await deleteIds(trx, record.project_id, [removedId]);
        const [inserted] = await insertAll(trx, [record]).catch((error: unknown) => {
          // The id has just been deleted, so another transaction has stored it since.
          const isBack = error instanceof ApiError && error.reason === 'conflict' && record.id === removedId;
          throw isBack ? new LostRaceError(error.message, { cause: error }) : error;
        });
        return inserted!;
      }),

    delete: (projectId, ids) => write(trx => deleteIds(trx, projectId, ids)),
  };
}

async function deleteIds(trx: Transaction<Tables>, projectId: string, ids: readonly string[]): Promise<void> {
  await trx.deleteFrom('feedback').where('project_id', '=', projectId).where('id', 'in', ids).execute();
}

function byId(left: FeedbackRecord, right: FeedbackRecord): number {
  return left.id < right.id ? -1 : 1;
}

/** Groups that one statement can insert: records of one project with distinct ids. */
function groupRecords(records: readonly FeedbackRecord[]): readonly (readonly FeedbackRecord[])[] {
  const groups: Map<string, FeedbackRecord>[] = [];
  for (const record of records) {
    const last = groups.at(-1);
    const fits =
      last !== undefined &&
      last.size < ROWS_PER_STATEMENT &&
      !last.has(record.id) &&
      last.values().next().value!.project_id === record.project_id;
    if (fits) last.set(record.id, record);
    else groups.push(new Map([[record.id, record]]));
  }
  return groups.map(group => [...group.values()]);
}

/** The record as a row of the `feedback` table. */
function toStoredFeedback(kind: DatabaseKind, record: FeedbackRecord): FeedbackTable {
  const { created_at_ms, ...same } = record;
  return {
    ...same,
    created_at: new Date(created_at_ms).toISOString(),
    scorer_tags: kind === 'postgres' ? record.scorer_tags : JSON.stringify(record.scorer_tags),
    scorer_tag_reasons: JSON.stringify(record.scorer_tag_reasons),
    scorer_tag_confidences: JSON.stringify(record.scorer_tag_confidences),
    scorer_ratings: JSON.stringify(record.scorer_ratings),
    scorer_rating_reasons: JSON.stringify(record.scorer_rating_reasons),
    scorer_rating_confidences: JSON.stringify(record.scorer_rating_confidences),
  };
}
