// The SQLite file of usage: one writer, whose commits survive a kill of the process and cost no wait for the disk. Damage is met as
// in the main database: a start says which file, and what to do; a running server goes on without it, and /health says so.

import { chmod } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { Kysely } from 'kysely';
import type { DatabaseCondition } from '../database.ts';
import { DatabaseError, messageOf } from '../database-errors.ts';
import { createStorageDialect } from '../storage-dialect.ts';
import type { UsageTables } from '../tables/usage.ts';
import { findDatabaseFile } from './check-database-file.ts';
import { createDatabaseFile } from './create-database-file.ts';
import { FileCondition } from './file-condition.ts';
import { createThreadDialect } from './thread-dialect.ts';

/** How long a start waits for the check of the pages. Unit: milliseconds. */
const START_CHECK_MS = 2_000;

export interface UsageFile {
  readonly db: Kysely<UsageTables>;
  /** A thread of its own for reports, which may take seconds: every answer waits for a write. */
  readonly reader: Kysely<UsageTables>;
  condition(): Promise<DatabaseCondition>;
  close(): Promise<void>;
}

/** Opens or creates the file, readable by its owner only. Throws: `DatabaseError`. */
export async function openUsageFile(file: string): Promise<UsageFile> {
  const condition = new FileCondition(file);
  try {
    if (!(await findDatabaseFile(file))) await createDatabaseFile(file);
    await chmod(file, 0o600);
    const damage = await condition.checkPages(START_CHECK_MS);
    if (damage !== undefined) throw new Error(`the file is damaged (${damage}); ${remedy(file)}`);
  } catch (error) {
    condition.close();
    const name = basename(file);
    throw new DatabaseError(`The data folder ${dirname(file)} cannot be used: ${name}: ${messageOf(error)}`, {
      cause: error,
    });
  }
  const openHandle = () => {
    const thread = { file, survivesKillOnly: true };
    const dialect = createStorageDialect(createThreadDialect({ thread, threadCount: 1 }), {
      onFault: condition.noteFault,
      beforeWrite: condition.refuseWrites,
    });
    return new Kysely<UsageTables>({ dialect });
  };
  const [db, reader] = [openHandle(), openHandle()];
  return {
    db,
    reader,
    condition: () => condition.read(),
    async close() {
      condition.close();
      await reader.destroy();
      await db.destroy();
    },
  };
}

function remedy(file: string): string {
  const name = basename(file);
  return `restore it from a backup, or remove it with ${name}-wal and ${name}-shm: only the counts of usage are lost, all else is in ortler.db`;
}
