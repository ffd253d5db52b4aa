// Runs the tests in C. Each compares all instruction sets of a machine with the definition bit for bit, the definition with
// double precision, and ends at the first byte that is read or written outside a buffer.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runs } from 'test-runs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runProgram } from '../scripts/programs.mjs';
import { compileForArm64, compileSanitised } from './compile-tests.mjs';

/** Random cases of each part of the program. */
const CASES = {
  product: runs({ daily: 300, full: 500 }),
  experts: runs({ daily: 100, full: 200 }),
  attention: runs({ daily: 10, full: 20 }),
  states: runs({ daily: 60, full: 100 }),
};

/** With the folder of Debian's package of glibc for arm64. */
const EMULATOR = ['qemu-aarch64-static', '-L', '/usr/aarch64-linux-gnu'];

type Part = keyof typeof CASES;
const PARTS = Object.keys(CASES) as Part[];

const folder = mkdtempSync(join(tmpdir(), 'ortler-kernels-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Outcome {
  readonly isas: readonly string[];
  /** Of the bytes of all results. */
  readonly checksum: string;
}

/** Throws: with the program's own message, where a case fails. */
async function runTests(command: readonly string[], part: Part): Promise<Outcome> {
  const [program, ...args] = [...command, part, String(CASES[part]), '1'];
  const env = { ...process.env, ASAN_OPTIONS: 'detect_leaks=0' };
  const output: string = await runProgram(`Testing ${part}`, program!, args, { env });
  const words = output.trim().split(/\s+/);
  return { isas: words.slice(0, -1), checksum: words.at(-1)! };
}

// Each runs on one core for half a minute.
describe.concurrent('the operators of this machine', () => {
  let native: (part: Part) => Promise<Outcome>;
  beforeAll(async () => {
    const command = [await compileSanitised(join(folder, 'sanitised'))];
    const outcomes = new Map<Part, Promise<Outcome>>();
    native = part => {
      const outcome = outcomes.get(part) ?? runTests(command, part);
      outcomes.set(part, outcome);
      return outcome;
    };
  });

  test('products have the bits of the definition, alone and among other rows, within their buffers', async () => {
    expect((await native('product')).isas.length).toBeGreaterThan(1);
  });

  test('experts have the bits of the definition, which are those of their products, alone and among other rows, within their buffers', async () => {
    expect((await native('experts')).isas.length).toBeGreaterThan(1);
  });

  test('attention has the bits of the definition, whole, in chunks and in batches, within its buffers', async () => {
    expect((await native('attention')).isas.length).toBeGreaterThan(1);
  });

  test('recurrent layers have the bits of the definition, whole and in chunks, with the states after them, within their buffers', async () => {
    expect((await native('states')).isas.length).toBeGreaterThan(1);
  });

  describe('and arm64 under emulation', () => {
    let emulated: readonly string[];
    beforeAll(async () => {
      const program = await compileForArm64(join(folder, 'arm64'));
      emulated = process.arch === 'arm64' ? [program] : [...EMULATOR, program];
    });

    test.each(PARTS)('give the same bits: %s', async part => {
      const found = await runTests(emulated, part);
      expect(found.isas).toEqual(['plain', 'neon']);
      expect(found.checksum).toBe((await native(part)).checksum);
    });
  });
});
