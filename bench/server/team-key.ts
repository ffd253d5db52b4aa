// A key of a team for a running server, made on the command line as operators do.

import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const ROOT = resolve(import.meta.dirname, '../..');

/** Resolves when the server takes the key. */
export async function createTeamKey(dataDir: string, url: string, team: string): Promise<string> {
  const cli = join(ROOT, 'apps/server/src/cli.ts');
  const args = ['--conditions=@ortler/source', cli, 'keys', 'create', '--team', team, '--data-dir', dataDir];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const key = stdout.trim();
  while (!(await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).ok)
    await new Promise(done => setTimeout(done, 200));
  return key;
}
