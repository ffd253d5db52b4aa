// Copies configuration and tokenizer files to a model folder, so that it is self-contained.

import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { COMPANION_FILES } from '@ortler/engine/graph-contract';
import { writeDurably } from './build-folder.ts';
import { ModelBuildError } from './errors.ts';

/** Files of the checkpoint that are copied to the model folder. Throws: `source_invalid`. */
export async function listCompanionFiles(sourceDir: string): Promise<string[]> {
  const present: string[] = [];
  for (const name of COMPANION_FILES) {
    const stats = await stat(join(sourceDir, name)).catch(() => undefined);
    if (stats?.isFile()) present.push(name);
  }
  for (const required of ['config.json', 'tokenizer.json']) {
    if (!present.includes(required)) {
      const file = join(sourceDir, required);
      throw new ModelBuildError('source_invalid', `${file} is missing`, { file });
    }
  }
  return present;
}

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
