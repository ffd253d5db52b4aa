// A folder for one test file that is removed at its end.

import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** Makes the folder now and removes it after the file's tests. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ortler-onnx-'));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
