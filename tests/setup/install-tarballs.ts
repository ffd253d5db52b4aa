// Lays packed packages out in a project outside the repository, as npm would, but without a registry: what they depend on
// is taken from an installed checkout.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * @param project The folder that gets a `node_modules`.
 * @param tarballs A folder of tarballs, `ortler-<name>-<version>.tgz` each.
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
  for (const file of readdirSync(tarballs)) {
    const name = /^ortler-(.+)-\d+\.\d+\.\d+\.tgz$/.exec(basename(file))![1]!;
    if (wanted?.includes(name) === false) continue;
    const folder = join(installed, '@ortler', name);
    mkdirSync(folder, { recursive: true });
    execFileSync('tar', ['-xzf', join(tarballs, file), '-C', folder, '--strip-components=1']);
    const source = [join(checkout, 'packages', name), join(checkout, 'apps', name)].find(existsSync)!;
    for (const dependency of listPackages(join(source, 'node_modules')))
      linkOnce(join(source, 'node_modules', dependency), join(installed, dependency));
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
