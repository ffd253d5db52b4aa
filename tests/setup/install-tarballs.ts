// Lays packed packages out in a project outside the repository, as npm would, but without a registry: what they depend on
// is taken from an installed checkout.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * @param project The folder that gets a `node_modules`.
 * @param tarballs A folder of tarballs, `ortler-<version>.tgz` and `ortler-<name>-<version>.tgz`.
 * @param checkout A checkout with its dependencies, from which the tarballs were made.
 * @param wanted Names without scope; default: all packages.
 */
export function installTarballs(
  project: string,
  tarballs: string,
  checkout: string,
  wanted?: readonly string[],
): void {
  const installed = join(project, 'node_modules');
  for (const file of readdirSync(tarballs).filter(name => name.endsWith('.tgz'))) {
    const name = /^ortler-(?:(.+)-)?\d+\.\d+\.\d+\.tgz$/.exec(basename(file))![1] ?? 'ortler';
    if (wanted?.includes(name) === false) continue;
    const folder = join(installed, name === 'ortler' ? name : `@ortler/${name}`);
    mkdirSync(folder, { recursive: true });
    execFileSync('tar', ['-xzf', join(tarballs, file), '-C', folder, '--strip-components=1']);
    const libraries = ['packages', 'apps']
      .map(group => join(checkout, group, name, 'node_modules'))
      .find(existsSync);
    if (libraries === undefined) continue;
    for (const dependency of listPackages(libraries))
      linkOnce(join(libraries, dependency), join(installed, dependency));
  }
}

/** Names of the packages in a `node_modules` besides those of the workspace. */
function listPackages(folder: string): string[] {
  return readdirSync(folder)
    .filter(name => !name.startsWith('.') && name !== '@ortler')
    .flatMap(name =>
      name.startsWith('@') ? readdirSync(join(folder, name)).map(inner => `${name}/${inner}`) : name,
    );
}

function linkOnce(target: string, link: string): void {
  if (existsSync(link)) return;
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(target, link);
}
