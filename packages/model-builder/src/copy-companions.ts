// The small files that a model folder holds copies of, so that it stands alone.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from './build-folder.ts';

/** Mutates: the disk, in `folder`. */
export async function copyCompanions(
  sourceDir: string,
  folder: string,
  names: readonly string[],
): Promise<void> {
  for (const name of names) {
    // Read and written, not copied by the system: a copy would keep a read-only mode and could not be synced.
    const content = await readFile(join(sourceDir, name));
    await writeDurably(join(folder, name), file => file.writeFile(content));
  }
}
