// The context length of `loadModel` decides the factors of LongRoPE that its build has.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { explainLongRope } from '@ortler/model-builder';
import { loadModel } from 'ortler';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DECODER_GOLDENS, writeGoldenCheckpoint } from '../../packages/model-builder/test/decoder-golden.ts';

const folder = mkdtempSync(join(tmpdir(), 'ortler-longrope-'));
const source = join(folder, 'source');

beforeAll(async () => {
  const { cases } = DECODER_GOLDENS.find(({ family }) => family === 'phi3')!;
  await writeGoldenCheckpoint(source, cases.find(({ name }) => name.startsWith('longrope'))!);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a context up to the original length has a build with the short factors, any other one with the long ones', async () => {
  const cacheDir = join(folder, 'cache');
  const lengths = { 40: 'short', 84: 'short', 85: 'long', 672: 'long' };
  for (const [length, factors] of Object.entries(lengths)) {
    const contextLength = Number(length);
    await using model = await loadModel(source, { cacheDir, precision: 'q8', device: 'cpu', contextLength });
    expect(model.engine.info.contextLength).toBe(contextLength);
    expect(await builtFactors(cacheDir)).toContain(factors);
  }
  await using model = await loadModel(source, { cacheDir, precision: 'q8', device: 'cpu' });
  expect(model.engine.info.contextLength).toBe(672);
  expect((await builtFactors(cacheDir)).toSorted()).toEqual(['long', 'short']);
});

async function builtFactors(cacheDir: string): Promise<string[]> {
  const builds = readdirSync(cacheDir).filter(name => name.startsWith('q8-'));
  const notices = await Promise.all(builds.map(name => explainLongRope(join(cacheDir, name))));
  return notices.map(notice => /its (\w+) factors/.exec(notice!)![1]!);
}
