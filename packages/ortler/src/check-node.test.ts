import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

/** Node before 24 has no such class. */
const OLDER = 'data:text/javascript,delete globalThis.Float16Array';
const PLUG_AND_PLAY = 'data:text/javascript,process.versions.pnp="3"';

it('refuses an older Node before any module that fails there', () => {
  expect(refusal(OLDER)).toMatch(/^Ortler needs Node 24\.15 or newer; this is v[\d.]+\.\n$/);
});

it("refuses Plug'n'Play, and names the setting that helps", () => {
  expect(refusal(PLUG_AND_PLAY)).toMatch(
    /^Ortler does not run under Plug'n'Play.*nodeLinker: node-modules.*\n$/,
  );
});

function refusal(runtime: string): string {
  const index = new URL('./index.ts', import.meta.url).href;
  const { stderr } = spawnSync(
    process.execPath,
    [
      '--conditions=@ortler/source',
      '--import',
      runtime,
      '--input-type=module',
      '--eval',
      `await import('${index}').catch(error => console.error(error.message))`,
    ],
    { encoding: 'utf8' },
  );
  return stderr;
}
