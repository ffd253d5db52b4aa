// Reads the chat templates that the configuration gives models in place of their own.

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
  return file === undefined ? undefined : readTemplate(file);
}

/**
 * The templates of all models, whose files are read now and never again: a checkpoint that is loaded later has that of the models
 * beside it. Gives what `readChatTemplate` does.
 */
export function readChatTemplates({
  chatTemplates,
}: Pick<Config, 'chatTemplates'>): (modelId: string) => Promise<string | undefined> {
  const { ofModel, ofOthers } = chatTemplates;
  const files = new Set([...ofModel.values(), ...(ofOthers === undefined ? [] : [ofOthers])]);
  const templates = new Map([...files].map(file => [file, readTemplate(file)]));
  // A fault is that of each model which has the file.
  for (const template of templates.values()) template.catch(() => undefined);
  return async modelId => templates.get(ofModel.get(modelId) ?? ofOthers ?? '');
}

async function readTemplate(file: string): Promise<string> {
  const source = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code === 'ENOENT' ? 'it does not exist' : (cause.code ?? cause.message);
    throw new EngineError('model_invalid', `The chat template ${file} cannot be read: ${reason}.`, { cause });
  });
  const fault = findTemplateFault(source);
  if (fault !== undefined) throw new EngineError('model_invalid', `The chat template ${file} ${fault}.`);
  return source;
}
