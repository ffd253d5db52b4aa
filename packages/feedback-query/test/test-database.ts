// The interface of a database under test, and queries on it.
import type { CompiledQuery } from 'kysely';
import { bindFeedbackQuery, type FeedbackQuery } from '../src/bind/bind-query.ts';
import type { Cursor, SortKey } from '../src/bind/sort-order.ts';
import { type CompileOptions, compileFeedbackQuery } from '../src/compile/compile-query.ts';
import type { QueryDialect } from '../src/compile/dialect.ts';
import type { ResultRow } from '../src/compile/result-row.ts';
import type { FeedbackRow } from './feedback-row.ts';

export interface TestDatabase {
  readonly dialect: QueryDialect;
  /** Table name, if not `feedback`. */
  readonly tableName?: string;
  readonly insert: (rows: readonly FeedbackRow[]) => Promise<void>;
  readonly clear: () => Promise<void>;
  readonly run: <T>(statement: CompiledQuery<T>) => Promise<readonly T[]>;
  readonly close: () => Promise<void>;
}

/** Binds, compiles and runs a request; gives the rows a client would see. */
export async function ask(database: TestDatabase, request: FeedbackQuery): Promise<readonly ResultRow[]> {
  const compiled = compileFeedbackQuery(bindFeedbackQuery(request), database.dialect, optionsOf(database));
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

/** Ids of all rows of a project, fetched page after page by cursor. */
export async function idsByPage(
  database: TestDatabase,
  sortBy: readonly SortKey[],
  limit: number,
): Promise<readonly unknown[]> {
  const ids: unknown[] = [];
  let after: Cursor | null = null;
  do {
    const bound = bindFeedbackQuery({
      projectId: 'acme/app',
      fields: ['id'],
      sortBy,
      limit,
      after,
      withCursor: true,
    });
    const page = compileFeedbackQuery(bound, database.dialect, optionsOf(database));
    const rows = await database.run(page.statement);
    ids.push(...rows.map(row => page.toResult(row).id));
    const last = rows.at(-1);
    // A cursor travels as text, so it must survive that.
    after = last === undefined ? null : (JSON.parse(JSON.stringify(page.toCursor(last))) as Cursor);
  } while (after !== null);
  return ids;
}

/** Compiler options for a database. */
export function optionsOf({ tableName }: TestDatabase): CompileOptions {
  return tableName === undefined ? {} : { tableName };
}
