import { mkdtemp, readdir, readFile, readlink, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ChunkJournal, parseJournal, readJournal } from './chunk-journal.ts';

const layout = { size: 1_000, chunkBytes: 10 };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-journal-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('the record of whole chunks', () => {
  test('has what was added, and goes on after a restart', async () => {
    const path = join(folder, 'a');
    const journal = await ChunkJournal.create(path, layout);
    await journal.add(12);
    await journal.add(3);
    await journal.close();
    const again = await ChunkJournal.continue(path);
    await again.add(99);
    await again.close();
    expect(await readJournal(path, layout)).toEqual(new Set([12, 3, 99]));
  });

  // Linux has a file that is a full disk, and shows the open files of a process.
  test.runIf(process.platform === 'linux')('leaves no file open where the disk is full', async () => {
    await expect(ChunkJournal.create('/dev/full', layout)).rejects.toMatchObject({ code: 'ENOSPC' });
    const open = await Promise.all(
      (await readdir('/proc/self/fd')).map(fd => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
    );
    expect(open).not.toContain('/dev/full');
  });

  test('cut at any byte has only chunks that were added, also when it goes on', async () => {
    const path = join(folder, 'b');
    const journal = await ChunkJournal.create(path, layout);
    for (const chunk of [12, 98, 7]) await journal.add(chunk);
    await journal.close();
    const text = await readFile(path, 'utf8');
    for (let length = 0; length <= text.length; length++) {
      await writeFile(path, text);
      await truncate(path, length);
      const before = await readJournal(path, layout);
      for (const chunk of before ?? []) expect([12, 98, 7]).toContain(chunk);
      if (before === undefined) continue;
      const again = await ChunkJournal.continue(path);
      await again.add(55);
      await again.close();
      const after = (await readJournal(path, layout))!;
      for (const chunk of [...before, 55]) expect(after).toContain(chunk);
      for (const chunk of after) expect([12, 98, 7, 55]).toContain(chunk);
    }
  });

  test('of another size, chunk length or format does not count', () => {
    expect(parseJournal('ortler ranges 1 1000 10\n5.\n', layout)).toEqual(new Set([5]));
    expect(parseJournal('ortler ranges 1 1001 10\n5.\n', layout)).toBeUndefined();
    expect(parseJournal('ortler ranges 1 1000 20\n5.\n', layout)).toBeUndefined();
    expect(parseJournal('ortler ranges 2 1000 10\n5.\n', layout)).toBeUndefined();
    expect(parseJournal('', layout)).toBeUndefined();
    expect(parseJournal('ortler ranges 1 1000 10\n100.\n-1.\nx.\n', layout)).toEqual(new Set());
  });
});
