// Reads JSON configuration files of checkpoints and adapters.

import { readFile } from 'node:fs/promises';
import { ModelBuildError } from '../errors.ts';
import { readFault } from '../read-fault.ts';

/** Parses the file without validating it. Throws: `source_invalid`, `source_unreadable`, `config_invalid` when it is not JSON. */
export async function readJsonFile(path: string): Promise<unknown> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw readFault(path, cause);
  });
  try {
    return JSON.parse(withoutInfinity(text));
  } catch (cause) {
    const { message } = cause as SyntaxError;
    throw new ModelBuildError('config_invalid', `${path} is not JSON: ${message}`, { file: path, cause });
  }
}

/** As `readJsonFile`, for what is only copied: a tokenizer may have tens of megabytes. Throws: as that. */
export async function checkJsonFile(path: string): Promise<void> {
  try {
    JSON.parse(await readFile(path, 'utf8'));
  } catch {
    await readJsonFile(path);
  }
}

const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\b(?:Infinity|NaN)\b/g;

/** Python writes numbers that JSON does not have. They become the objects that newer versions of transformers write. */
function withoutInfinity(text: string): string {
  return text.replaceAll(TEXT_OR_NUMBER, found =>
    found.startsWith('"') ? found : JSON.stringify({ __float__: found }),
  );
}
