#!/usr/bin/env node

// `pnpm kernels`: builds the libraries of all platforms into `prebuilt`. Plain JavaScript, needs Node and Python 3 only.

import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildLibrary } from './build-library.mjs';
import { BuildError } from './programs.mjs';
import { hashSources, readWrittenHash, writeHash } from './source-hash.mjs';
import { libraryName, TARGETS } from './targets.mjs';
import { installZig } from './zig.mjs';

const USAGE = `Usage: pnpm kernels [--check | --dev]

  (nothing)  build the libraries of all platforms, and write the hash of their sources
  --check    build them into a temporary folder and compare their bytes with the committed ones
  --dev      build the library of this platform only, for work on the sources`;

const PREBUILT = fileURLToPath(new URL('../prebuilt', import.meta.url));
/** All six together. */
const MAX_BYTES = 750_000;

const log = line => console.error(line);

/** Builds the libraries of `platforms` one after the other. Gives their bytes by the name of their files. */
async function buildAll(platforms, hash) {
  const compiler = await installZig(log);
  const folder = await mkdtemp(join(tmpdir(), 'ortler-kernels-'));
  try {
    const libraries = new Map();
    for (const platform of platforms) {
      const start = performance.now();
      const bytes = await buildLibrary(compiler, platform, hash, join(folder, platform));
      libraries.set(libraryName(platform, hash), bytes);
      log(
        `${platform.padEnd(12)} ${bytes.length} bytes, ${((performance.now() - start) / 1000).toFixed(1)} s`,
      );
    }
    return libraries;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function build(platforms) {
  const hash = hashSources();
  const libraries = await buildAll(platforms, hash);
  await mkdir(PREBUILT, { recursive: true });
  for (const name of readdirSync(PREBUILT)) if (!libraries.has(name)) await rm(join(PREBUILT, name));
  for (const [name, bytes] of libraries) await writeFile(join(PREBUILT, name), bytes);
  writeHash(hash);
  const total = [...libraries.values()].reduce((sum, bytes) => sum + bytes.length, 0);
  log(`${total} bytes in all; hash of the sources ${hash}`);
  if (total > MAX_BYTES) throw new BuildError(`The libraries have more than ${MAX_BYTES} bytes together.`);
}

async function check() {
  const hash = hashSources();
  const written = readWrittenHash();
  if (written !== hash)
    throw new BuildError(
      `The sources have the hash ${hash}, src/source-hash.ts says ${written}: run \`pnpm kernels\` and commit its files.`,
    );
  const libraries = await buildAll(Object.keys(TARGETS), hash);
  const faults = [];
  for (const [name, bytes] of libraries) {
    const file = join(PREBUILT, name);
    if (!existsSync(file)) faults.push(`prebuilt/${name} is missing`);
    else if (!bytes.equals(await readFile(file)))
      faults.push(`prebuilt/${name} has other bytes than a build from the sources`);
  }
  for (const name of readdirSync(PREBUILT))
    if (!libraries.has(name)) faults.push(`prebuilt/${name} belongs to other sources`);
  if (faults.length > 0)
    throw new BuildError(`${faults.join('\n')}\nRun \`pnpm kernels\` and commit its files.`);
  log('The committed libraries are those of the sources, byte for byte.');
}

async function main(args) {
  if (args.length === 0) return build(Object.keys(TARGETS));
  if (args.length === 1 && args[0] === '--check') return check();
  if (args.length === 1 && args[0] === '--dev') {
    const host = `${process.platform}-${process.arch}`;
    if (!Object.hasOwn(TARGETS, host)) throw new BuildError(`There are no kernels for ${host}.`);
    return build([host]);
  }
  throw new BuildError(USAGE);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof BuildError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
