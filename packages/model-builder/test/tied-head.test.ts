// Checkpoints with a stored output matrix although config.json ties it to the embedding table.

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildModel } from '../src/build-model.ts';
import { createTinyCheckpoint, seededTensors } from '../src/testing/tiny-model.ts';
import { writeSafetensors } from '../src/testing/write-safetensors.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();
const HEAD = 'lm_head.weight';
const TABLE = 'model.embed_tokens.weight';

/** Writes a tied checkpoint with a head that is the table plus `change` in the given element. */
async function tiedCheckpoint(name: string, element: number, change: number): Promise<string> {
  const sourceDir = join(folder, name);
  const tensors = seededTensors(await createTinyCheckpoint(sourceDir), 1);
  const table = tensors.find(tensor => tensor.name === TABLE)!;
  const fill = (target: Float32Array, start: number) => {
    table.fill(target, start);
    const index = element - start;
    if (index >= 0 && index < target.length) target[index]! += change;
  };
  await writeSafetensors(join(sourceDir, 'model.safetensors'), 'F32', [
    ...tensors,
    { ...table, name: HEAD, fill },
  ]);
  return sourceDir;
}

it('builds one whose output matrix is the table, and counts it once', async () => {
  const sourceDir = await tiedCheckpoint('equal', 0, 0);
  const plainDir = join(folder, 'plain');
  await createTinyCheckpoint(plainDir);
  const build = (source: string) =>
    buildModel({ sourceDir: source, outputDir: `${source}-built`, precision: 'f32' });
  expect((await build(sourceDir)).parameterCount).toBe((await build(plainDir)).parameterCount);
});

it('refuses one whose output matrix differs in a single element, and writes nothing', async () => {
  const sourceDir = await tiedCheckpoint('different', 64 * 200 + 5, 0.5);
  const outputDir = join(folder, 'never');
  const build = buildModel({ sourceDir, outputDir, precision: 'f32' });
  await expect(build).rejects.toThrow(/in row 200:/);
  await expect(build).rejects.toMatchObject({
    code: 'tensor_mismatch',
    file: join(sourceDir, 'config.json'),
    tensor: HEAD,
    message: expect.stringContaining('config.json, key tie_word_embeddings: is true'),
  });
  expect((await readdir(folder)).filter(name => name.startsWith('never'))).toEqual([]);
});
