// The example of embedding the engine runs as its README says.

import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTinyCheckpoint } from '@ortler/model-builder/testing';
import { expect, test } from 'vitest';

test('examples/embed-engine builds a folder and streams an answer from it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ortler-example-'));
  try {
    await createTinyCheckpoint(folder);
    const main = join(import.meta.dirname, '../../examples/embed-engine/src/main.ts');
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [
      '--conditions=@ortler/source',
      main,
      'Hello',
      folder,
    ]);
    expect(stdout.length).toBeGreaterThan(1);
    expect(stderr).toMatch(/\d+ prompt and \d+ answer tokens/);
  } finally {
    await rm(folder, { recursive: true });
  }
});
