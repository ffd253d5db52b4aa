// Creates the SQLite file of a new data folder, whole at its first appearance: so an empty file is never a new database, but one that
// lost its content.

import { randomBytes } from 'node:crypto';
import { link, open, rename, rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';

/** Marks the files of Ortler: "ORTL" in ASCII. Source: https://www.sqlite.org/pragma.html#pragma_application_id */
const APPLICATION_ID = 0x4f52544c;

/** Several servers may do this at once: the first one's file stays. Throws: errors of the file system. */
export async function createDatabaseFile(file: string): Promise<void> {
  const draft = `${file}.${randomBytes(6).toString('hex')}.new`;
  try {
    // Private from the start; SQLite copies the permissions to its WAL and shared-memory files.
    await (await open(draft, 'wx', 0o600)).close();
    const database = new DatabaseSync(draft);
    try {
      database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    } finally {
      database.close();
    }
    await publish(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}

async function publish(draft: string, file: string): Promise<void> {
  try {
    await link(draft, file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    // A file system without links.
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS') throw error;
    await rename(draft, file);
  }
}
