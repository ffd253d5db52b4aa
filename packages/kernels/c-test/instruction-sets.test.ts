// Runs the tests in C. Each compares all instruction sets of a machine with the definition bit for bit, the definition with
// double precision, and ends at the first byte that is read or written outside a buffer.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runs } from 'test-runs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runProgram } from '../scripts/programs.mjs';
import { compileForArm64, compileSanitised } from './compile-tests.mjs';

const PRODUCTS = runs({ daily: 500, full: 3_000 });
const EXPERTS = runs({ daily: 200, full: 1_000 });
const ATTENTIONS = runs({ daily: 40, full: 150 });
const STATES = runs({ daily: 200, full: 1_000 });

const folder = mkdtempSync(join(tmpdir(), 'ortler-kernels-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Outcome {
  readonly isas: readonly string[];
  /** Of the bytes of all results. */
  readonly checksum: string;
}

/** Throws: with the program's own message, where a case fails. */
async function runTests(command: readonly string[], part: string, cases: number): Promise<Outcome> {
  const [program, ...args] = [...command, part, String(cases), '1'];
  const env = { ...process.env, ASAN_OPTIONS: 'detect_leaks=0' };
  const output: string = await runProgram(`Testing ${part}`, program!, args, { env });
  const words = output.trim().split(/\s+/);
  return { isas: words.slice(0, -1), checksum: words.at(-1)! };
}

describe('the operators of this machine', () => {
  let command: readonly string[];
  beforeAll(async () => {
    command = [await compileSanitised(join(folder, 'sanitised'))];
  });

  test('products have the bits of the definition, alone and among other rows, within their buffers', async () => {
    const { isas } = await runTests(command, 'product', PRODUCTS);
    expect(isas.length).toBeGreaterThan(1);
  });

  test('experts have the bits of the definition, which are those of their products, alone and among other rows, within their buffers', async () => {
    const { isas } = await runTests(command, 'experts', EXPERTS);
    expect(isas.length).toBeGreaterThan(1);
  });

  test('attention has the bits of the definition, whole, in chunks and in batches, within its buffers', async () => {
    const { isas } = await runTests(command, 'attention', ATTENTIONS);
    expect(isas.length).toBeGreaterThan(1);
  });

  test('layers with memory have the bits of the definition, whole and in chunks, with the states behind them, within their buffers', async () => {
    const { isas } = await runTests(command, 'states', STATES);
    expect(isas.length).toBeGreaterThan(1);
  });

  describe('and arm64 under emulation', () => {
    let emulated: readonly string[];
    beforeAll(async () => {
      const program = await compileForArm64(join(folder, 'arm64'));
      emulated = process.arch === 'arm64' ? [program] : ['qemu-aarch64-static', program];
    });

    test.each([
      ['product', PRODUCTS],
      ['experts', EXPERTS],
      ['attention', ATTENTIONS],
      ['states', STATES],
    ] as const)('give the same bits: %s', async (part, cases) => {
      const found = await runTests(emulated, part, cases);
      expect(found.isas).toEqual(['plain', 'neon']);
      expect(found.checksum).toBe((await runTests(command, part, cases)).checksum);
    });
  });
});
