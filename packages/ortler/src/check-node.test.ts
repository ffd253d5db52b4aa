import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

/** Node before 24 has no such class. */
const OLDER = 'data:text/javascript,delete globalThis.Float16Array';

it('refuses an older Node before any module that fails there', () => {
  const index = new URL('./index.ts', import.meta.url).href;
  const { stderr } = spawnSync(
    process.execPath,
    [
      '--conditions=@ortler/source',
      '--import',
      OLDER,
      '--input-type=module',
      '--eval',
      `await import('${index}').catch(error => console.error(error.message))`,
    ],
    { encoding: 'utf8' },
  );
  expect(stderr).toMatch(/^Ortler needs Node 24\.15 or newer; this is v[\d.]+\.\n$/);
});
