// The backup that the README describes, run as it stands there.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, it } from 'vitest';
import { readConfig } from '../src/config/config.ts';
import { openDatabase } from '../src/db/open-database.ts';
import { DATABASE_FILE } from '../src/db/sqlite/open-sqlite.ts';
import { openUsageStore, USAGE_FILE } from '../src/stores/usage/usage-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'ortler-backup-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('copies every database of the data folder while a server has it open', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
  const [, commands] = /^```sh\n(mkdir .*?)^```$/ms.exec(readme)!;
  const dataDir = join(folder, '.ortler');
  const database = await openDatabase(readConfig({ ORTLER_DATA_DIR: dataDir }));
  const usage = await openUsageStore(database, dataDir);
  const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);
  execFileSync('sh', ['-c', commands!], { cwd: folder, env: { ...process.env, PATH } });
  await usage.close();
  await database.close();
  expect(tablesOf(DATABASE_FILE)).toContain('feedback');
  expect(tablesOf(USAGE_FILE)).toContain('usage');
});

function tablesOf(name: string): readonly unknown[] {
  const copy = new DatabaseSync(join(folder, 'backup', name), { readOnly: true });
  const rows = copy.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  copy.close();
  return rows.map(row => row.name);
}
