import { expect, it } from 'vitest';
import { PINNED_NODES, PINNED_PNPM, toLockedManifests } from './pinned-tools.mjs';

const TOOLS = [...Object.values(PINNED_NODES), PINNED_PNPM];

it('pins every tool to one version and a hash of SHA-512', () => {
  for (const { version, integrity } of TOOLS) {
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(integrity).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
  }
});

it('locks each package to its hash', () => {
  const { manifest, lock } = toLockedManifests([PINNED_PNPM]);
  expect(manifest.dependencies).toEqual({ pnpm: PINNED_PNPM.version });
  expect(lock.packages['node_modules/pnpm']).toMatchObject({ integrity: PINNED_PNPM.integrity });
});
