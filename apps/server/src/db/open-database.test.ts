import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DATABASE_FILE, DatabaseError, openDatabase } from './open-database.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-db-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('openDatabase', () => {
  it('names the folder and the reason when it cannot use them', async () => {
    const file = join(folder, 'a-file');
    await writeFile(file, '');
    const damaged = join(folder, 'damaged');
    await mkdir(damaged);
    await writeFile(join(damaged, DATABASE_FILE), 'this is not a database');
    const occupied = join(folder, 'occupied');
    await mkdir(join(occupied, DATABASE_FILE), { recursive: true });
    for (const dataDir of [file, damaged, occupied]) {
      const error: unknown = await openDatabase(dataDir).catch(thrown => thrown);
      expect(error).toBeInstanceOf(DatabaseError);
      expect((error as Error).message).toMatch(`The data folder ${dataDir} cannot be used: `);
    }
  });
});
