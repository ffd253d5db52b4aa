import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DECODER_GOLDENS, writeGoldenCheckpoint } from '../test/decoder-golden.ts';
import { explainCacheFault } from './explain-cache-fault.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-caches-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it.each([
  ['hunyuan_v1_dense', 'device-slots', undefined],
  ['gemma3_text', 'device-slots', /^layer 0 has a window, .* no int8 cache on WebGPU$/],
  ['gemma3_text', 'kernels', undefined],
  ['llama', 'paged', /^a "paged" graph has no int8 cache; it has float16: PagedAttention/],
  ['llama', 'slots', /^a "slots" graph has no int8 cache; it has float32$/],
] as const)('says of %s as "%s" what keeps it from an int8 cache', async (family, variant, reason) => {
  const golden = DECODER_GOLDENS.find(entry => entry.family === family)!.cases[0]!;
  const sourceDir = join(folder, `${family}-${variant}`);
  await writeGoldenCheckpoint(sourceDir, golden);
  const found = await explainCacheFault(sourceDir, variant, 'int8');
  expect(found).toEqual(reason === undefined ? undefined : expect.stringMatching(reason));
  expect(await explainCacheFault(sourceDir, variant, undefined)).toBeUndefined();
});

it('leaves a folder that cannot be read to the builder', async () => {
  expect(await explainCacheFault(join(folder, 'none'), 'device-slots', 'int8')).toBeUndefined();
});
