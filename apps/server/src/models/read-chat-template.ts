// Reads the chat template that the configuration gives a model in place of its own.

import { readFile } from 'node:fs/promises';
import { EngineError } from '@ortler/engine';
import { findTemplateFault } from '@ortler/engine/text-files';
import type { Config } from '../config/config.ts';

/**
 * The template of a model; undefined where it keeps its own. Throws: `model_invalid` naming a file that cannot be read, or parsed, and
 * the line.
 */
export async function readChatTemplate(
  { chatTemplates }: Pick<Config, 'chatTemplates'>,
  modelId: string,
): Promise<string | undefined> {
  const file = chatTemplates.ofModel.get(modelId) ?? chatTemplates.ofOthers;
  if (file === undefined) return undefined;
  const source = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code === 'ENOENT' ? 'it does not exist' : (cause.code ?? cause.message);
    throw new EngineError('model_invalid', `The chat template ${file} cannot be read: ${reason}.`, { cause });
  });
  const fault = findTemplateFault(source);
  if (fault !== undefined) throw new EngineError('model_invalid', `The chat template ${file} ${fault}.`);
  return source;
}
