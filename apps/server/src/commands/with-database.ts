// Shared parts of commands that work on the databases: opening them, turning expected failures into messages, a row counter.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { ApiError } from '@ortler/api';
import { QueryError } from '@ortler/feedback-query';
import type { Config } from '../config/config.ts';
import type { Database } from '../db/database.ts';
import { DatabaseError } from '../db/database-errors.ts';
import { openDatabase } from '../db/open-database.ts';
import { DATABASE_FILE } from '../db/sqlite/open-sqlite.ts';
import { type OpenFeedback, openFeedback } from '../stores/feedback/open-feedback.ts';
import type { Terminal } from './terminal.ts';
import { UserError } from './user-error.ts';

/** Runs `work` on the database and closes it. Throws: `UserError` for faults that the operator can correct. */
export async function withDatabase<Result>(
  config: Config,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  let database: Database | undefined;
  try {
    database = await openDatabase(config);
    return await work(database);
  } catch (error) {
    const isMistake =
      error instanceof DatabaseError || error instanceof ApiError || error instanceof QueryError;
    throw isMistake ? new UserError(error.message, { cause: error }) : error;
  } finally {
    await database?.close();
  }
}

/** For commands that store nothing: they would make an empty database of a misspelt folder. Throws: `UserError`. */
export function requireDatabase({ databaseUrl, dataDir }: Config): void {
  if (databaseUrl !== undefined) return;
  try {
    statSync(join(dataDir, DATABASE_FILE));
  } catch (error) {
    const message =
      (error as NodeJS.ErrnoException).code === 'EACCES'
        ? `The data folder ${dataDir} may not be read by this user. Run the command as the user of the server.`
        : `There is no database in ${dataDir}. Servers make one; --data-dir names their folder.`;
    throw new UserError(message, { cause: error });
  }
}

/** Runs `work` on the feedback of the configuration. Throws: as `withDatabase`. */
export function withFeedback<Result>(
  config: Config,
  work: (feedback: OpenFeedback) => Promise<Result>,
): Promise<Result> {
  return withDatabase(config, async database => {
    const feedback = await openFeedback(database, config);
    try {
      return await work(feedback);
    } finally {
      await feedback.close();
    }
  });
}

/** Rows between two lines of progress without a terminal. */
const LINE_STEP = 100_000;

/** Shows the number of processed rows: one redrawn line on a terminal, a line per `LINE_STEP` rows elsewhere. */
export function createRowCounter(terminal: Terminal, verb: string) {
  let shown = 0;
  return {
    update(count: number): void {
      if (terminal.isScreen) terminal.err(`\r  ${verb} ${count} rows`);
      else if (count - shown >= LINE_STEP) {
        shown = count;
        terminal.err(`  ${verb} ${count} rows\n`);
      }
    },
    end(text: string): void {
      terminal.err(`${terminal.isScreen ? '\r' : ''}  ${text}\n`);
    },
  };
}
