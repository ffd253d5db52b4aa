import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { createTinyCheckpoint } from '../testing/tiny-model.ts';
import { writeSafetensors } from '../testing/write-safetensors.ts';
import { Checkpoint } from './checkpoint.ts';

const folder = temporaryFolder();
let folderCount = 0;

const NORM = 'model.norm.weight';
const INDEX = 'model.safetensors.index.json';
const SECOND_SHARD = 'model-00002-of-00003.safetensors';

async function checkpointFolder(shardCount = 1): Promise<string> {
  const path = join(folder, String(folderCount++));
  await createTinyCheckpoint(path, { shardCount });
  return path;
}

async function read(path: string, name: string, shape: readonly number[]): Promise<number[]> {
  const checkpoint = await Checkpoint.open(path);
  try {
    const values = new Float32Array(shape.reduce((product, dim) => product * dim, 1));
    await checkpoint.tensor(name, shape).readFloats(0, values);
    return [...values];
  } finally {
    await checkpoint.close();
  }
}

async function editIndex(path: string, edit: (map: Record<string, unknown>) => void): Promise<void> {
  const index = JSON.parse(await readFile(join(path, INDEX), 'utf8'));
  edit(index.weight_map);
  await writeFile(join(path, INDEX), JSON.stringify(index));
}

it('reads the same values from one file and from shards', async () => {
  const whole = await read(await checkpointFolder(), NORM, [64]);
  expect(await read(await checkpointFolder(3), NORM, [64])).toEqual(whole);
});

it('reads a part of a tensor', async () => {
  const path = await checkpointFolder();
  const whole = await read(path, NORM, [64]);
  const checkpoint = await Checkpoint.open(path);
  const part = new Float32Array(5);
  await checkpoint.tensor(NORM, [64]).readFloats(10, part);
  await checkpoint.close();
  expect([...part]).toEqual(whole.slice(10, 15));
});

it.each(['F16', 'BF16'] as const)(
  'reads %s weights as the values nearest to the float32 ones',
  async type => {
    const path = join(folder, String(folderCount++));
    await createTinyCheckpoint(path, { weightType: type });
    const exact = await read(await checkpointFolder(), NORM, [64]);
    const stored = await read(path, NORM, [64]);
    // Half a unit of the last of 8 or 11 significant bits, for numbers between 0.5 and 2.
    const bound = type === 'BF16' ? 2 ** -8 : 2 ** -11;
    for (const [i, value] of stored.entries()) expect(Math.abs(value - exact[i]!)).toBeLessThanOrEqual(bound);
    expect(stored).not.toEqual(exact);
  },
);

describe('a checkpoint is refused', () => {
  it('when a tensor is missing', async () => {
    const path = await checkpointFolder();
    await expect(read(path, 'model.extra.weight', [2, 2])).rejects.toMatchObject({
      code: 'tensor_missing',
      tensor: 'model.extra.weight',
      file: join(path, 'model.safetensors'),
      message: expect.stringContaining('expected with shape [2,2]'),
    });
  });

  it('when a tensor has another shape', async () => {
    await expect(read(await checkpointFolder(), NORM, [32])).rejects.toMatchObject({
      code: 'tensor_mismatch',
      tensor: NORM,
      message: expect.stringContaining('has shape [64]; config.json asks for [32]'),
    });
  });

  it('when a tensor has a type that is not built', async () => {
    const path = await checkpointFolder();
    const file = join(path, 'model.safetensors');
    const content = await readFile(file, 'latin1');
    await writeFile(file, content.replaceAll('"F32"', '"I32"'), 'latin1');
    await expect(read(path, NORM, [64])).rejects.toMatchObject({
      code: 'unsupported',
      tensor: NORM,
      message: expect.stringContaining('has type I32; supported: F32, F16, BF16'),
    });
  });

  it('when a weight is not finite', async () => {
    const path = await checkpointFolder();
    const fill = (target: Float32Array) => target.fill(Number.NaN, 3, 4);
    await writeSafetensors(join(path, 'model.safetensors'), 'BF16', [{ name: NORM, shape: [64], fill }]);
    await expect(read(path, NORM, [64])).rejects.toMatchObject({
      code: 'tensor_mismatch',
      tensor: NORM,
      message: expect.stringContaining('element 3 is NaN; weights must be finite'),
    });
  });

  it('when there are no weights', async () => {
    const path = await checkpointFolder();
    await rm(join(path, 'model.safetensors'));
    await expect(Checkpoint.open(path)).rejects.toMatchObject({
      code: 'source_invalid',
      message: expect.stringContaining('holds neither model.safetensors nor'),
    });
  });

  it('when a shard is missing', async () => {
    const path = await checkpointFolder(3);
    await rm(join(path, SECOND_SHARD));
    await expect(Checkpoint.open(path)).rejects.toMatchObject({
      code: 'source_invalid',
      file: join(path, SECOND_SHARD),
      message: `${join(path, SECOND_SHARD)} does not exist`,
    });
  });

  it('when the index places a tensor in a shard that does not hold it', async () => {
    const path = await checkpointFolder(3);
    await editIndex(path, map => {
      map['model.extra.weight'] = SECOND_SHARD;
    });
    await expect(Checkpoint.open(path)).rejects.toMatchObject({
      code: 'tensor_missing',
      tensor: 'model.extra.weight',
      file: join(path, SECOND_SHARD),
    });
  });

  it('when two shards hold the same tensor', async () => {
    const path = await checkpointFolder(3);
    const copy = 'model-00004.safetensors';
    await writeFile(join(path, copy), await readFile(join(path, SECOND_SHARD)));
    await editIndex(path, map => {
      map['model.other.weight'] = copy;
    });
    await expect(Checkpoint.open(path)).rejects.toMatchObject({ code: 'weights_corrupt' });
  });

  it.each(['../secret.safetensors', '/etc/passwd', 'model.bin', 7])(
    'when the index names the file %s',
    async name => {
      const path = await checkpointFolder(2);
      await editIndex(path, map => {
        map[NORM] = name;
      });
      await expect(Checkpoint.open(path)).rejects.toMatchObject({
        code: 'weights_corrupt',
        file: join(path, INDEX),
        tensor: NORM,
      });
    },
  );

  it.each(['{', '[]', '{"weight_map":{}}', 'null'])('when the index is %s', async text => {
    const path = await checkpointFolder(2);
    await writeFile(join(path, INDEX), text);
    await expect(Checkpoint.open(path)).rejects.toMatchObject({
      code: 'weights_corrupt',
      file: join(path, INDEX),
    });
  });
});
