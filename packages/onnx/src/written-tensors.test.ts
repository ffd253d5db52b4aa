import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../test/temporary-folder.ts';
import { WrittenTensors } from './written-tensors.ts';

const folder = temporaryFolder();
const path = join(folder, 'x.data');
const written = new WrittenTensors(folder);

beforeAll(async () => {
  await writeFile(path, Uint8Array.of(9, 9, 1, 2, 3, 4));
  written.add(
    new Map([
      ['inline', { kind: 'inline', bytes: Uint8Array.of(5, 6, 7) }],
      ['external', { kind: 'external', file: 'x.data', offset: 2, length: 4 }],
    ]),
  );
});
afterAll(() => written.close());

async function read(name: string, from: number, length: number): Promise<number[]> {
  const target = new Uint8Array(length);
  await written.read(name, from, target);
  return [...target];
}

it('reads bytes of a tensor from its file', async () => {
  expect(await read('external', 0, 4)).toEqual([1, 2, 3, 4]);
  expect(await read('external', 1, 2)).toEqual([2, 3]);
});

it('reads bytes of a tensor that lives in the model file', async () => {
  expect(await read('inline', 1, 2)).toEqual([6, 7]);
});

it.each(['external', 'inline'])('never reads beyond the end of %s', async name => {
  await expect(read(name, 1, 4)).rejects.toThrow(`${name} is read beyond its end`);
});

it('refuses a tensor that no file holds yet', async () => {
  await expect(read('later', 0, 1)).rejects.toThrow('later is read before it was written');
});

it('names the file that has become shorter', async () => {
  await truncate(path, 5);
  await expect(read('external', 0, 4)).rejects.toMatchObject({
    code: 'truncated',
    file: path,
    tensor: 'external',
    message: `${path} ended at byte 5 while it was read again`,
  });
});
