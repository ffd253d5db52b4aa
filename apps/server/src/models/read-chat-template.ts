// Reads the chat template that the configuration gives a model in place of its own.

import { readFile } from 'node:fs/promises';
import { EngineError } from '@ortler/engine';
import type { Config } from '../config/config.ts';

/** The template of a model; undefined where it keeps its own. Throws: `model_invalid` naming a file that cannot be read. */
export async function readChatTemplate(
  { chatTemplates }: Pick<Config, 'chatTemplates'>,
  modelId: string,
): Promise<string | undefined> {
  const file = chatTemplates.ofModel.get(modelId) ?? chatTemplates.ofOthers;
  if (file === undefined) return undefined;
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const { code = String(cause) } = cause as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'it does not exist' : code;
    throw new EngineError('model_invalid', `The chat template ${file} cannot be read: ${reason}.`, { cause });
  }
}
