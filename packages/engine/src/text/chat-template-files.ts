// Reads the chat templates of a model folder, from every place where models publish them.

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from '../errors.ts';
import { CHAT_TEMPLATE_FOLDER } from '../graph-contract/index.ts';
import { isObject, type JsonObject, readJson, readText } from './tokenizer-json.ts';

/** Jinja sources by name. The one of a conversation without tools is named `default`. */
export type NamedTemplates = ReadonlyMap<string, string>;

const DEFAULT = 'default';
const SUFFIX = '.jinja';
const TEMPLATE_FILE = 'chat_template.jinja';
const PROCESSOR_FILE = 'chat_template.json';

/**
 * The templates of a folder: those of template files, else those of tokenizer_config.json, else the one of the processor. Where
 * there are files, tokenizer_config.json is not asked, as in `transformers`. Throws: `model_invalid` naming the file.
 */
export async function readChatTemplates(modelDir: string, config: JsonObject): Promise<NamedTemplates> {
  const ofFiles = await readTemplateFiles(modelDir);
  if (ofFiles.size > 0) return ofFiles;
  const ofConfig = templatesOf(config.chat_template, 'tokenizer_config.json');
  if (ofConfig.size > 0) return ofConfig;
  const processor = await readJson(modelDir, PROCESSOR_FILE);
  return templatesOf(processor?.chat_template, PROCESSOR_FILE);
}

/** The templates of a `chat_template` entry: a text, or a list of named ones. Throws: `model_invalid` for other shapes. */
function templatesOf(entry: unknown, file: string): NamedTemplates {
  if (entry === undefined || entry === null) return new Map();
  if (typeof entry === 'string') return new Map([[DEFAULT, entry]]);
  if (!Array.isArray(entry)) throw invalid(file, 'that is neither a text nor a list');
  const named = new Map<string, string>();
  for (const item of entry) {
    if (!isObject(item) || typeof item.name !== 'string' || typeof item.template !== 'string')
      throw invalid(file, 'list whose entries are not {name, template}');
    named.set(item.name, item.template);
  }
  return named;
}

async function readTemplateFiles(modelDir: string): Promise<NamedTemplates> {
  const named = new Map<string, string>();
  const main = await readText(modelDir, TEMPLATE_FILE);
  if (main !== null) named.set(DEFAULT, main);
  const files = await readdir(join(modelDir, CHAT_TEMPLATE_FOLDER)).catch(() => []);
  for (const file of files.filter(name => name.endsWith(SUFFIX)).toSorted()) {
    const source = await readText(modelDir, join(CHAT_TEMPLATE_FOLDER, file));
    if (source !== null) named.set(file.slice(0, -SUFFIX.length), source);
  }
  return named;
}

function invalid(file: string, problem: string): EngineError {
  return new EngineError('model_invalid', `${file} of the model folder has a "chat_template" ${problem}.`);
}
