import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DECODER_GOLDENS, writeGoldenCheckpoint } from '../test/decoder-golden.ts';
import { settleVariant } from './settle-variant.ts';

const GPU = ['paged', 'device-slots'] as const;
const GPU_OR_CPU = [...GPU, 'kernels'] as const;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-variants-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function writeFirst(family: string): Promise<string> {
  const golden = DECODER_GOLDENS.find(entry => entry.family === family)!.cases[0]!;
  const sourceDir = join(folder, family);
  await writeGoldenCheckpoint(sourceDir, golden);
  return sourceDir;
}

it.each([
  ['llama', 'paged', undefined],
  ['gemma3_text', 'device-slots', /window/],
  ['gemma4_text', 'device-slots', /different sizes/],
  ['gemma2', 'kernels', /soft cap/],
])(
  '%s gets the first variant that can compute it, %s, with what the best one lacks',
  async (family, variant, reason) => {
    const choice = await settleVariant(await writeFirst(family), GPU_OR_CPU);
    expect(choice).toEqual({
      variant,
      reason: reason === undefined ? undefined : expect.stringMatching(reason),
    });
  },
);

it('leaves a model that none can compute to the builder, which says why', async () => {
  const choice = await settleVariant(await writeFirst('gemma2'), GPU);
  expect(choice).toEqual({
    variant: 'paged',
    reason: undefined,
    fault: expect.stringMatching(/PagedAttention .*soft cap.*; GroupQueryAttention/),
  });
});

it('leaves a folder that cannot be read to the builder', async () => {
  expect(await settleVariant(join(folder, 'none'), GPU)).toEqual({ variant: 'paged', reason: undefined });
});
