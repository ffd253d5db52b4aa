// Installs dependencies and builds the packages, each only when its inputs changed since the last time.
// Stamps under `.tools/` remember the inputs; a start with nothing to do costs a few hundred `stat` calls.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT, runStep } from './processes.mjs';

const root = fileURLToPath(ROOT);
const WORKSPACE_FOLDERS = ['packages', 'apps', 'examples'];

/** Runs `pnpm install` when the lockfile, a manifest or Node changed. */
export async function ensureInstalled(toolchain) {
  const hash = createHash('sha256').update(toolchain.node);
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests()]) {
    hash.update(file).update(readFileSync(join(root, file)));
  }
  const marker = 'node_modules/.modules.yaml';
  await onceFor('installed', hash, [marker], async () => {
    const pnpm = await toolchain.pnpm();
    const args = [...pnpm.args, 'install', '--frozen-lockfile', '--prefer-offline'];
    await runStep('Installing dependencies', pnpm.program, args, pnpm.environment);
  });
}

/**
 * Runs the build when a source file, a manifest or a compiler setting changed. With `isFresh` always, and from nothing:
 * the compiler leaves what it wrote of sources that are gone, and a package must not hold that.
 */
export async function ensureBuilt(toolchain, { isFresh = false } = {}) {
  if (isFresh) removeBuilds(root);
  const hash = createHash('sha256');
  for (const file of [...manifests(), ...buildInputs()]) {
    const { size, mtimeMs } = statSync(join(root, file));
    hash.update(`${file} ${size} ${mtimeMs}\n`);
  }
  const results = ['apps/server/dist/cli.js', 'apps/console/dist/index.html'];
  await onceFor('built', hash, results, async () => {
    const pnpm = await toolchain.pnpm();
    // What the build's cache would bring back was written the same way.
    const args = [...pnpm.args, 'run', 'build', ...(isFresh ? ['--force'] : [])];
    await runStep('Building', pnpm.program, args, pnpm.environment);
  });
}

/** Removes what the build made in the packages below `folder`. */
export function removeBuilds(folder) {
  for (const group of ['packages', 'apps']) {
    for (const name of readdirSync(join(folder, group)))
      rmSync(join(folder, group, name, 'dist'), { recursive: true, force: true });
  }
}

/** Runs `work` unless it already succeeded for the same inputs and its results are still there. */
async function onceFor(name, hash, results, work) {
  const key = hash.digest('hex');
  const stamp = join(root, '.tools', `${name}.stamp`);
  const done = existsSync(stamp) && readFileSync(stamp, 'utf8') === key;
  if (done && results.every(file => existsSync(join(root, file)))) return;
  await work();
  mkdirSync(join(root, '.tools'), { recursive: true });
  writeFileSync(stamp, key);
}

function manifests() {
  const found = ['package.json', 'tests/package.json', 'bench/package.json'];
  for (const folder of WORKSPACE_FOLDERS) {
    for (const name of readdirSync(join(root, folder))) found.push(`${folder}/${name}/package.json`);
  }
  return found.filter(file => existsSync(join(root, file)));
}

function buildInputs() {
  const page = ['index.html', 'vite.config.ts'].map(name => `apps/console/${name}`);
  const found = ['tsconfig.base.json', 'turbo.json', ...page];
  for (const folder of ['packages', 'apps']) {
    for (const name of readdirSync(join(root, folder))) {
      const source = `${folder}/${name}/src`;
      if (!existsSync(join(root, source))) continue;
      for (const file of readdirSync(join(root, source), { recursive: true })) {
        if (/\.(tsx?|json|css|svg)$/.test(file) && !file.endsWith('.test.ts'))
          found.push(`${source}/${file}`);
      }
    }
  }
  return found.sort();
}
