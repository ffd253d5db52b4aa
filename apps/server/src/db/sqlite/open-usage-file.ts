// The SQLite file of usage: one writer, whose commits survive a kill of the process and cost no wait for the disk.

import { chmod } from 'node:fs/promises';
import { Kysely } from 'kysely';
import type { UsageTables } from '../tables/usage.ts';
import { findDatabaseFile } from './check-database-file.ts';
import { createDatabaseFile } from './create-database-file.ts';
import { createThreadDialect } from './thread-dialect.ts';

/** Opens or creates the file, readable by its owner only. */
export async function openUsageFile(file: string): Promise<Kysely<UsageTables>> {
  if (!(await findDatabaseFile(file))) await createDatabaseFile(file);
  await chmod(file, 0o600);
  const thread = { file, survivesKillOnly: true };
  return new Kysely<UsageTables>({ dialect: createThreadDialect({ thread, threadCount: 1 }) });
}
