// The backup and the restore that the README describes, run as they stand there.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, it } from 'vitest';
import { readConfig } from '../src/config/config.ts';
import { openDatabase } from '../src/db/open-database.ts';
import { DATABASE_FILE } from '../src/db/sqlite/open-sqlite.ts';
import { addKey, listKeys } from '../src/stores/key-registry.ts';
import { openUsageStore, USAGE_FILE } from '../src/stores/usage/usage-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'ortler-backup-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the commands of the README that begin with this one, beside the data folder. */
function runCommands(first: string): void {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
  const [, commands] = new RegExp(`^\`\`\`sh\\n(${first} .*?)^\`\`\`$`, 'ms').exec(readme)!;
  const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);
  execFileSync('sh', ['-c', commands!], { cwd: folder, env: { ...process.env, PATH } });
}

it('copies every database of the data folder while a server has it open, and brings them back', async () => {
  const dataDir = join(folder, '.ortler');
  const open = () => openDatabase(readConfig({ ORTLER_DATA_DIR: dataDir }));
  const database = await open();
  const usage = await openUsageStore(database, dataDir);
  const before = await addKey(database, { name: 'before', team: null }, 0);
  runCommands('mkdir');
  await addKey(database, { name: 'after', team: null }, 1);
  // As a server leaves them that is killed.
  for (const suffix of ['', '-wal', '-shm'])
    cpSync(join(dataDir, `ortler.db${suffix}`), join(folder, `killed${suffix}`));
  await usage.close();
  await database.close();
  for (const suffix of ['', '-wal', '-shm'])
    cpSync(join(folder, `killed${suffix}`), join(dataDir, `ortler.db${suffix}`));
  expect(tablesOf(DATABASE_FILE)).toContain('feedback');
  expect(tablesOf(USAGE_FILE)).toContain('usage');

  runCommands('rm');
  const restored = await open();
  expect((await listKeys(restored)).map(({ id }) => id)).toEqual([before.id]);
  await restored.close();
});

function tablesOf(name: string): readonly unknown[] {
  const copy = new DatabaseSync(join(folder, 'backup', name), { readOnly: true });
  const rows = copy.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  copy.close();
  return rows.map(row => row.name);
}
