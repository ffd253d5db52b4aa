// The committed libraries: made from the sources, small, and without needs.

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { runProgram } from '../scripts/programs.mjs';
import { TARGETS } from '../scripts/targets.mjs';
import { importsOf } from './imports-of.ts';

const PREBUILT = new URL('../prebuilt/', import.meta.url);
const names = readdirSync(PREBUILT);
const read = (name: string) => readFileSync(new URL(name, PREBUILT));

describe('the committed libraries', () => {
  test('are those of the sources, byte for byte', async () => {
    const script = fileURLToPath(new URL('../scripts/main.mjs', import.meta.url));
    await runProgram('Building the libraries again', process.execPath, [script, '--check']);
  });

  test('exist for every platform and have 750 KB together at most', () => {
    const platforms = names.map(
      name => /^ortler-kernels-(\w+-\w+)-[0-9a-f]{16}\.(so|dylib|dll)$/.exec(name)?.[1],
    );
    expect(platforms.sort()).toEqual(Object.keys(TARGETS).sort());
    expect(names.reduce((sum, name) => sum + read(name).length, 0)).toBeLessThanOrEqual(750_000);
  });

  test.each(names)('%s needs nothing that its platform may not have', name => {
    // What every process of macOS has: the library without which none starts, and its loader.
    const expected = name.endsWith('.dylib')
      ? { libraries: ['/usr/lib/libSystem.B.dylib'], symbols: ['dyld_stub_binder'] }
      : { libraries: [], symbols: [] };
    expect(importsOf(read(name))).toEqual(expected);
  });

  test('are read as the platforms read them: the program that runs this test needs libraries', () => {
    const { libraries } = importsOf(readFileSync(process.execPath));
    expect(libraries.length).toBeGreaterThan(0);
  });
});
