// Reads JSON configuration files of checkpoints and adapters.

import { readFile, stat } from 'node:fs/promises';
import { ModelBuildError } from '../errors.ts';
import { readFault } from '../read-fault.ts';

/** Some of these files are read on the thread that serves all requests. The largest published ones have 2 MB. */
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * Parses the file without validating it. Throws: `source_invalid`, `source_unreadable`, `config_invalid` when it is not JSON, or longer
 * than any.
 */
export async function readJsonFile(path: string): Promise<unknown> {
  const { size } = await stat(path).catch((cause: unknown) => {
    throw readFault(path, cause);
  });
  if (size > MOST_BYTES) {
    const message = `${path} has ${size} bytes; at most ${MOST_BYTES} are read`;
    throw new ModelBuildError('config_invalid', message, { file: path });
  }
  return parseJsonText(path, await readText(path));
}

async function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw readFault(path, cause);
  });
}

function parseJsonText(path: string, text: string): unknown {
  try {
    return JSON.parse(withoutInfinity(text));
  } catch (cause) {
    const { message } = cause as SyntaxError;
    throw new ModelBuildError('config_invalid', `${path} is not JSON: ${message}`, { file: path, cause });
  }
}

/** As `readJsonFile`, for what is only copied: a tokenizer may have tens of megabytes. Throws: as that. */
export async function checkJsonFile(path: string): Promise<void> {
  const text = await readText(path);
  try {
    JSON.parse(text);
  } catch {
    parseJsonText(path, text);
  }
}

const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\b(?:Infinity|NaN)\b/g;

/** Python writes numbers that JSON does not have. They become the objects that newer versions of transformers write. */
function withoutInfinity(text: string): string {
  return text.replaceAll(TEXT_OR_NUMBER, found =>
    found.startsWith('"') ? found : JSON.stringify({ __float__: found }),
  );
}
