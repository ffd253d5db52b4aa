// The lock file on machines of other kinds: a package with native parts lists one for each platform as optional dependencies,
// and an install takes only those that the lock file has.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { REPOSITORY } from '../support/server.ts';

/** Left out on purpose: pnpm-workspace.yaml says why. */
const LEFT_OUT = ['@rollup/rollup-linux-x64-gnu'];

const INSTALLED = join(REPOSITORY, 'node_modules/.pnpm');

test('the lock file has the optional parts that installed packages list for every platform', () => {
  const lock = readFileSync(join(REPOSITORY, 'pnpm-lock.yaml'), 'utf8');
  const isLocked = (name: string) => lock.includes(`\n  ${name}@`) || lock.includes(`\n  '${name}@`);
  const parts = installedManifests().flatMap(({ optionalDependencies = {} }) =>
    Object.keys(optionalDependencies),
  );
  expect(parts).toContain('@turbo/darwin-arm64');
  expect(parts.filter(name => !isLocked(name) && !LEFT_OUT.includes(name))).toEqual([]);
});

interface Manifest {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Manifests of the packages in pnpm's store of this checkout. */
function installedManifests(): Manifest[] {
  const files = readdirSync(INSTALLED).flatMap(folder => {
    if (folder === 'node_modules' || !folder.includes('@')) return [];
    const packages = join(INSTALLED, folder, 'node_modules');
    return packageNames(packages).map(name => join(packages, name, 'package.json'));
  });
  return files.map(file => JSON.parse(readFileSync(file, 'utf8')));
}

function packageNames(folder: string): string[] {
  return readdirSync(folder).flatMap(name => {
    if (name.startsWith('.')) return [];
    return name.startsWith('@') ? readdirSync(join(folder, name)).map(inner => `${name}/${inner}`) : [name];
  });
}
