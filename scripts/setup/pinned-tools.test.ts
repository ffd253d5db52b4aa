import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PINNED_NODES, PINNED_PNPM, toLockedManifests } from './pinned-tools.mjs';

const TOOLS = [...Object.values(PINNED_NODES), PINNED_PNPM];

it('pins every tool to one version and a hash of SHA-512', () => {
  for (const { version, integrity } of TOOLS) {
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(integrity).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
  }
});

it('pins a Node that the packages allow, for every platform', () => {
  const { engines } = JSON.parse(
    readFileSync(new URL('../../apps/server/package.json', import.meta.url), 'utf8'),
  );
  const least = engines.node.replace('>=', '');
  for (const { name, version } of Object.values(PINNED_NODES))
    expect(version.localeCompare(least, 'en', { numeric: true }), name).toBeGreaterThan(0);
});

it('locks each package to its hash', () => {
  const { manifest, lock } = toLockedManifests([PINNED_PNPM]);
  expect(manifest.dependencies).toEqual({ pnpm: PINNED_PNPM.version });
  expect(lock.packages['node_modules/pnpm']).toMatchObject({ integrity: PINNED_PNPM.integrity });
});
