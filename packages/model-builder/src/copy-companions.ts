// Copies configuration and tokenizer files to a model folder, so that it is self-contained.

import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CHAT_TEMPLATE_FOLDER, COMPANION_FILES } from '@ortler/engine/graph-contract';
import { type FindTextFaultOptions, findTextFault } from '@ortler/engine/text-files';
import { writeDurably } from './build-folder.ts';
import { ModelBuildError } from './errors.ts';
import { checkJsonFile } from './hugging-face/json-file.ts';

/** Files of the checkpoint that are copied to the model folder. Throws: `source_invalid` where a needed one is missing. */
export async function listCompanionFiles(
  sourceDir: string,
  needed: readonly string[] = ['config.json', 'tokenizer.json'],
): Promise<string[]> {
  const present: string[] = [];
  for (const name of [...COMPANION_FILES, ...(await listNamedTemplates(sourceDir))]) {
    const stats = await stat(join(sourceDir, name)).catch(() => undefined);
    if (stats?.isFile()) present.push(name);
  }
  for (const required of needed) {
    if (!present.includes(required)) {
      const file = join(sourceDir, required);
      throw new ModelBuildError('source_invalid', `${file} is missing`, { file });
    }
  }
  return present;
}

/** Paths with a slash on every system, because the manifest names them. */
async function listNamedTemplates(sourceDir: string): Promise<string[]> {
  const names = await readdir(join(sourceDir, CHAT_TEMPLATE_FOLDER)).catch(() => []);
  const templates = names.filter(name => name.endsWith('.jinja')).toSorted();
  return templates.map(name => `${CHAT_TEMPLATE_FOLDER}/${name}`);
}

/**
 * Files that are cut short or empty, and a tokenizer that the engine does not have, show before a build, which may take long, and not
 * when its model is loaded. Throws: `source_invalid`, `config_invalid`, `unsupported` for what the engine does not take.
 */
export async function checkCompanions(sourceDir: string, options: FindTextFaultOptions = {}): Promise<void> {
  for (const name of await listCompanionFiles(sourceDir))
    if (name.endsWith('.json')) await checkJsonFile(join(sourceDir, name));
  const fault = await findTextFault(sourceDir, options);
  if (fault !== undefined)
    throw new ModelBuildError('unsupported', `${sourceDir}: ${fault}`, { file: sourceDir });
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
    const target = join(folder, name);
    await mkdir(dirname(target), { recursive: true });
    await writeDurably(target, file => file.writeFile(content));
  }
}
