// What the conformance tests need of a database, and how they ask it.
import type { CompiledQuery } from 'kysely';
import { bindFeedbackQuery, type FeedbackQuery } from '../src/bind-query.ts';
import { compileFeedbackQuery } from '../src/compile-query.ts';
import type { QueryDialect } from '../src/dialects/dialect.ts';
import type { ResultRow } from '../src/selection.ts';
import type { FeedbackRow } from './feedback-row.ts';

export interface TestDatabase {
  readonly dialect: QueryDialect;
  readonly insert: (rows: readonly FeedbackRow[]) => Promise<void>;
  readonly clear: () => Promise<void>;
  readonly run: <T>(statement: CompiledQuery<T>) => Promise<readonly T[]>;
  readonly close: () => Promise<void>;
}

/** Binds, compiles and runs a request; gives the rows a client would see. */
export async function ask(database: TestDatabase, request: FeedbackQuery): Promise<readonly ResultRow[]> {
  const compiled = compileFeedbackQuery(bindFeedbackQuery(request), database.dialect);
  const rows = await database.run(compiled.statement);
  return rows.map(compiled.toResult);
}

/** Ids of the rows of a project that an expression keeps, in default order. */
export async function idsOf(
  database: TestDatabase,
  $expr: unknown,
  projectId = 'acme/app',
): Promise<string[]> {
  const rows = await ask(database, { projectId, fields: ['id'], query: { $expr } });
  return rows.map(row => String(row.id));
}
