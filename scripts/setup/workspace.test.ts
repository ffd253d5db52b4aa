import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ROOT } from './processes.mjs';
import { removeBuilds } from './workspace.mjs';

const folder = mkdtempSync(join(tmpdir(), 'ortler-workspace-'));
afterAll(() => rmSync(folder, { recursive: true }));

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

test('the workspace has no setting of pnpm 11 that pnpm 12 refuses', () => {
  const settings = readFileSync(new URL('pnpm-workspace.yaml', ROOT), 'utf8');
  expect(settings).not.toMatch(/^confirmModulesPurge:/m);
});
