// The main module where it cannot run.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const CLI = new URL('./cli.ts', import.meta.url);

/** Makes Node say that it is an older one. */
const OLDER =
  'data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"24.14.1"}})';

const PLUG_AND_PLAY = 'data:text/javascript,process.versions.pnp="3"';

it('refuses a Node that is too old, before it imports what that may lack', () => {
  const { status, stderr } = run(OLDER);
  expect(stderr).toMatch(/^Ortler needs Node 24\.15 or newer; this is v[\d.]+\.\n$/);
  expect(status).toBe(1);
  expect(readFileSync(CLI, 'utf8')).not.toMatch(/^import\b/m);
});

it("refuses Plug'n'Play, and names the setting that helps", () => {
  const { status, stderr } = run(PLUG_AND_PLAY);
  expect(stderr).toMatch(/^Ortler does not run under Plug'n'Play.*nodeLinker: node-modules.*\n$/);
  expect(status).toBe(1);
});

function run(runtime: string) {
  const args = ['--conditions=@ortler/source', '--import', runtime, CLI.pathname, '--version'];
  return spawnSync(process.execPath, args, { encoding: 'utf8' });
}
