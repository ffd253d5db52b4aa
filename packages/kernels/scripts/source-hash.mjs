// One hash for all that decides the bytes of the libraries: sources, compiler, flags and targets.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { FLAGS, TARGETS, ZIG_VERSION } from './targets.mjs';

export const SOURCES = new URL('../c/', import.meta.url);
const HASH_FILE = new URL('../src/source-hash.ts', import.meta.url);

/** Sixteen hexadecimal digits. */
export function hashSources() {
  const hash = createHash('sha256');
  hash.update(JSON.stringify({ ZIG_VERSION, FLAGS, TARGETS }));
  for (const name of readdirSync(SOURCES).sort()) {
    // A checkout on Windows may have other line ends.
    const text = readFileSync(new URL(name, SOURCES), 'utf8').replaceAll('\r\n', '\n');
    hash.update(`\0${name}\0${text}`);
  }
  return hash.digest('hex').slice(0, 16);
}

/** The hash that the package looks for at run time. */
export function readWrittenHash() {
  return /SOURCE_HASH = '([^']+)'/.exec(readFileSync(HASH_FILE, 'utf8'))?.[1];
}

export function writeHash(hash) {
  writeFileSync(
    HASH_FILE,
    `// Written by \`pnpm kernels\`: hash of the sources in \`c/\` and of the compiler that the prebuilt libraries were made from.

export const SOURCE_HASH = '${hash}';
`,
  );
}
