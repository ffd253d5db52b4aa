// Installs dependencies and builds the packages, each only when its inputs changed since the last time.
// Stamps under `.tools/` remember the inputs; a start with nothing to do costs a few hundred `stat` calls.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT, runStep } from './processes.mjs';

const root = fileURLToPath(ROOT);
const WORKSPACE_FOLDERS = ['packages', 'apps', 'examples'];

/** What a server runs and what builds it: half of all that tests and benchmarks need. */
const SERVER_PACKAGES = ['@ortler/server...', '@ortler/console...'];

/**
 * pnpm 11 asks before it replaces a `node_modules` of another layout. The flag says no to that, because pnpm 12, which never asks,
 * refuses the setting in pnpm-workspace.yaml.
 */
const INSTALL_FLAGS = ['--frozen-lockfile', '--prefer-offline', '--config.confirmModulesPurge=false'];

/**
 * Runs `pnpm install` when the lockfile, a manifest or Node changed. With `isServerOnly` for the server and the console
 * alone, so that a first start has less to fetch.
 */
export async function ensureInstalled(toolchain, { isServerOnly = false } = {}) {
  const hash = createHash('sha256').update(toolchain.node);
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests()]) {
    hash.update(file).update(readFileSync(join(root, file)));
  }
  const marker = 'node_modules/.modules.yaml';
  await onceFor('installed', isServerOnly, hash, [marker], async () => {
    const pnpm = await toolchain.pnpm();
    const filters = isServerOnly ? toFilters(['{.}', ...SERVER_PACKAGES]) : [];
    const args = [...pnpm.args, 'install', ...INSTALL_FLAGS, ...filters];
    await runStep('Installing dependencies', pnpm.program, args, pnpm.environment);
  });
}

/**
 * Runs the build when a source file, a manifest or a compiler setting changed. With `isFresh` always, and from nothing:
 * the compiler leaves what it wrote of sources that are gone, and a package must not hold that.
 */
export async function ensureBuilt(toolchain, { isFresh = false, isServerOnly = false } = {}) {
  if (isFresh) removeBuilds(root);
  const hash = createHash('sha256');
  for (const file of [...manifests(), ...buildInputs()]) {
    const { size, mtimeMs } = statSync(join(root, file));
    hash.update(`${file} ${size} ${mtimeMs}\n`);
  }
  const results = ['apps/server/dist/cli.js', 'apps/console/dist/index.html'];
  await onceFor('built', isServerOnly, hash, results, async () => {
    const pnpm = await toolchain.pnpm();
    const filters = isServerOnly ? toFilters(SERVER_PACKAGES) : [];
    // What the build's cache would bring back was written the same way.
    const args = [...pnpm.args, 'run', 'build', ...filters, ...(isFresh ? ['--force'] : [])];
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

function toFilters(packages) {
  return packages.map(name => `--filter=${name}`);
}

/**
 * Runs `work` unless it already succeeded for the same inputs, for the server alone or for everything, and its results are
 * still there.
 */
async function onceFor(name, isServerOnly, hash, results, work) {
  const key = hash.digest('hex');
  const stampOf = scope => join(root, '.tools', `${name}${scope}.stamp`);
  const isDone = scope => existsSync(stampOf(scope)) && readFileSync(stampOf(scope), 'utf8') === key;
  const done = isDone('') || (isServerOnly && isDone('-server'));
  if (done && results.every(file => existsSync(join(root, file)))) return;
  await work();
  mkdirSync(join(root, '.tools'), { recursive: true });
  writeFileSync(stampOf(isServerOnly ? '-server' : ''), key);
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
