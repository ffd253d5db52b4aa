import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { removeBuilds } from './workspace.mjs';

const folder = mkdtempSync(join(tmpdir(), 'ortler-workspace-'));
afterEach(() => rmSync(folder, { recursive: true }));

test('a build from nothing begins without what earlier ones made, and touches nothing else', () => {
  const built = ['packages/a/dist/gone.js', 'apps/b/dist/deep/gone.d.ts'];
  const kept = ['packages/a/src/index.ts', 'packages/a/package.json', 'packages/never-built/src/index.ts'];
  for (const file of [...built, ...kept]) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), '');
  }
  removeBuilds(folder);
  expect([...built, ...kept].filter(file => existsSync(join(folder, file)))).toEqual(kept);
});
