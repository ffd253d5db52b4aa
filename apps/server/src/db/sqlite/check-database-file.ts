// Start-up checks of the SQLite file: whether data that was there has vanished, and whether SQLite finds its pages sound.

import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { startSqliteThread } from './sqlite-thread.ts';

/** Whether the file exists. Throws: when it is empty, or gone without its write-ahead log. */
export async function findDatabaseFile(file: string): Promise<boolean> {
  const size = await sizeOf(file);
  if (size !== undefined && size > 0) return true;
  const name = basename(file);
  const remedy = `restore it from a backup, or remove it with ${name}-wal and ${name}-shm to start without data`;
  if (size === 0) throw new Error(`${name} is empty, where a database was expected; ${remedy}`);
  if (((await sizeOf(`${file}-wal`)) ?? 0) > 0)
    throw new Error(`${name} is missing beside its write-ahead log; ${remedy}`);
  return false;
}

export interface PageCheck {
  /** What is wrong, in SQLite's words; null for a sound file. Undefined: the check was stopped. */
  readonly result: Promise<string | null | undefined>;
  stop(): void;
}

/** Checks all pages in a thread of its own (`PRAGMA quick_check`). Never rejects. */
export function checkPages(file: string): PageCheck {
  const stopped = Promise.withResolvers<undefined>();
  const started = startSqliteThread({ file });
  const check = async () => {
    const thread = await started;
    try {
      const { rows } = await thread.run('pragma quick_check(1)', []);
      const [{ quick_check: found } = {}] = rows as { readonly quick_check?: string }[];
      return found === 'ok' ? null : (found ?? 'the check gave no answer');
    } finally {
      if (thread.isAlive) await thread.close();
    }
  };
  const checked = check().catch((error: Error) => error.message);
  return {
    result: Promise.race([checked, stopped.promise]),
    stop() {
      stopped.resolve(undefined);
      void started.then(thread => thread.kill()).catch(() => undefined);
    },
  };
}

async function sizeOf(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
