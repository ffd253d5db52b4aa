// Writes the configuration and tokenizer files of a model folder that is built from a GGUF file.

import { join } from 'node:path';
import { type GgufModel, readGgufTokenizer } from '@ortler/gguf';
import { writeDurably } from '../build-folder.ts';
import { checkingGguf } from './gguf-fault.ts';

/**
 * Mutates: the disk, in `folder`. Returns the names of the files.
 *
 * Throws: `weights_corrupt`, `unsupported` for the tokenizer.
 */
export async function writeGgufCompanions(
  folder: string,
  { metadata, path }: Pick<GgufModel, 'metadata' | 'path'>,
  configJson: Readonly<Record<string, unknown>>,
): Promise<readonly string[]> {
  const { tokenizer, config, generation } = checkingGguf(() => readGgufTokenizer(metadata, path));
  const contents = {
    'config.json': { ...configJson, ...generation },
    'generation_config.json': generation,
    'tokenizer.json': tokenizer,
    'tokenizer_config.json': config,
  };
  for (const [name, content] of Object.entries(contents))
    await writeDurably(join(folder, name), file => file.writeFile(`${JSON.stringify(content)}\n`));
  return Object.keys(contents);
}
