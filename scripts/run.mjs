#!/usr/bin/env node

// The set-up contract: `npm start`, `npm test` and the other commands below work from a clean clone on a
// machine with only Node 20 or newer and npm. What is missing (Node 24, pnpm, dependencies, the build) is got
// once, into this folder, from the npm registry. Plain JavaScript: it must run before anything is installed.

import { resolve } from 'node:path';
import { INTERRUPTED_CODE, Interruption, runToEnd } from './setup/processes.mjs';
import { findToolchain, hostRefusal } from './setup/toolchain.mjs';
import { ensureBuilt, ensureInstalled } from './setup/workspace.mjs';

const USAGE = `Usage: node scripts/run.mjs <command> [options for the command]

  start   set up what is missing and serve the API (options: see "npm start -- --help")
  ortler  set up what is missing and run the command line: npm run ortler -- chat "Hello"
  test    set up what is missing and run all tests but those of GPUs (options go to vitest)
  dev     set up what is missing and serve from the TypeScript sources, restarting on edits
  bench   set up what is missing and run a benchmark: npm run bench -- <name>
  pack    set up what is missing and pack the packages for npm, with an SBOM: npm run pack -- <folder>
  setup   set up what is missing, nothing else

  test-models   set up what is missing and download the models of the tests of real text (351 MB)`;

/**
 * Each command gives the arguments of Node, or of pnpm, for what it finally runs, and whether that
 * needs the build, or one from nothing, and only the server's packages.
 */
const COMMANDS = {
  start: { build: true, isServerOnly: true, node: args => ['apps/server/dist/cli.js', 'serve', ...args] },
  ortler: { build: true, isServerOnly: true, node: args => ['apps/server/dist/cli.js', ...args] },
  test: {
    build: false,
    node: args => ['node_modules/vitest/vitest.mjs', 'run', ...projectsOf(args), ...args],
  },
  dev: {
    build: false,
    isServerOnly: true,
    node: args => ['--conditions=@ortler/source', '--watch', 'apps/server/src/cli.ts', 'serve', ...args],
  },
  bench: { build: false, node: args => ['--conditions=@ortler/source', 'bench/main.ts', ...args] },
  pack: {
    build: true,
    isFresh: true,
    pnpm: ([folder = '.cache/packages']) => [packArguments(resolve(folder)), sbomArguments(resolve(folder))],
  },
  'test-models': { build: false, node: args => ['scripts/real-models/main.ts', ...args] },
  setup: { build: true },
};

/**
 * The projects of vitest that the caller names, or all but those of GPUs: many desktops have a driver in software, which
 * takes minutes for each of their files.
 */
function projectsOf(args) {
  if (args.some(arg => arg.startsWith('--project'))) return [];
  console.error('Tests of GPUs are left out; `pnpm gpu` runs them.');
  if (process.env.TEST_RUNS === undefined)
    console.error('Random tests try few cases; with TEST_RUNS=full as many as continuous integration.');
  return ['unit', 'unit-alone', 'families', 'e2e', 'real-models'].flatMap(name => ['--project', name]);
}

/** What is installed beside our packages, from the lock file. */
function sbomArguments(folder) {
  const format = ['--sbom-format', 'cyclonedx', '--sbom-spec-version', '1.6'];
  return [
    'sbom',
    ...format,
    '--prod',
    '--filter',
    './packages/ortler',
    '--out',
    resolve(folder, 'sbom.cdx.json'),
  ];
}

function packArguments(folder) {
  return [
    '--filter',
    './packages/*',
    '--filter',
    './apps/*',
    '--filter',
    './models/*',
    'pack',
    '--pack-destination',
    folder,
  ];
}

async function main([name, ...args]) {
  const command = Object.hasOwn(COMMANDS, name ?? '') ? COMMANDS[name] : undefined;
  if (command === undefined) {
    console.error(name === undefined ? USAGE : `Unknown command "${name}".\n\n${USAGE}`);
    return 2;
  }
  const refusal = hostRefusal();
  if (refusal !== undefined) {
    console.error(refusal);
    return 1;
  }
  const toolchain = await findToolchain();
  await ensureInstalled(toolchain, command);
  if (command.build) await ensureBuilt(toolchain, command);
  if (command.pnpm !== undefined) {
    const pnpm = await toolchain.pnpm();
    for (const pnpmArgs of command.pnpm(args)) {
      const code = await runToEnd(pnpm.program, [...pnpm.args, ...pnpmArgs], pnpm.environment);
      if (code !== 0) return code;
    }
    return 0;
  }
  if (command.node === undefined) return 0;
  return runToEnd(toolchain.node, command.node(args), toolchain.environment);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const wasStopped = error instanceof Interruption;
  console.error(wasStopped ? `\n${error.message}` : `\nSet-up failed: ${error.message}`);
  process.exitCode = wasStopped ? INTERRUPTED_CODE : 1;
}
