// The main module on a version of Node that is too old.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const CLI = new URL('./cli.ts', import.meta.url);

/** Makes Node say that it is an older one. */
const OLDER =
  'data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"24.14.1"}})';

it('refuses a Node that is too old, before it imports what that may lack', () => {
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--conditions=@ortler/source', '--import', OLDER, CLI.pathname, '--version'],
    { encoding: 'utf8' },
  );
  expect(stderr).toMatch(/^Ortler needs Node 24\.15 or newer; this is v[\d.]+\.\n$/);
  expect(status).toBe(1);
  expect(readFileSync(CLI, 'utf8')).not.toMatch(/^import\b/m);
});
