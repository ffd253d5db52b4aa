// Copies configuration and tokenizer files to a model folder, so that it is self-contained.

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
    // Not copied by the system, because a copy would keep a read-only mode and could not be synced.
    const content = await readFile(join(sourceDir, name));
    await writeDurably(join(folder, name), file => file.writeFile(content));
  }
}
