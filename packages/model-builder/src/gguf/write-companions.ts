// The configuration and tokenizer files of a model folder that is built from a GGUF file.

import { join } from 'node:path';
import { type GgufModel, readGgufTokenizer } from '@ortler/gguf';
import { writeDurably } from '../build-folder.ts';
import { checkingGguf } from './gguf-fault.ts';

/** Texts of the files by their names. Throws: `weights_corrupt`, `unsupported` for the tokenizer. */
export function readGgufCompanions(
  { metadata, path }: Pick<GgufModel, 'metadata' | 'path'>,
  configJson: Readonly<Record<string, unknown>>,
): ReadonlyMap<string, string> {
  const { tokenizer, config, generation } = checkingGguf(() => readGgufTokenizer(metadata, path));
  const contents = {
    'config.json': { ...configJson, ...generation },
    'generation_config.json': generation,
    'tokenizer.json': tokenizer,
    'tokenizer_config.json': config,
  };
  return new Map(Object.entries(contents).map(([name, content]) => [name, `${JSON.stringify(content)}\n`]));
}

/** Mutates: the disk, in `folder`. Returns the names of the files. */
export async function writeGgufCompanions(
  folder: string,
  texts: ReadonlyMap<string, string>,
): Promise<readonly string[]> {
  for (const [name, text] of texts) await writeDurably(join(folder, name), file => file.writeFile(text));
  return [...texts.keys()];
}
