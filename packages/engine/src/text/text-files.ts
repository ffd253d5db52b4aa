// What the files of a model folder give the text side. Callers: create-engine.ts, and those that build a model first: they ask for
// faults before that, because a build may take long.

import { EngineError } from '../errors.ts';
import { readDefaultMaxTokens, readSamplingDefaults } from '../request/sampling-defaults.ts';
import { type NamedTemplates, readChatTemplates } from './chat-template-files.ts';
import { longestTokenSpan } from './token-bound.ts';
import { Tokenizer } from './tokenizer.ts';
import { readTokenizerFiles, type TokenizerFiles } from './tokenizer-json.ts';

export { findTemplateFault } from './chat-template.ts';

export interface TextFiles extends Pick<TokenizerFiles, 'config' | 'generationConfig'> {
  readonly tokenizer: Tokenizer;
  readonly templates: NamedTemplates;
  /** See `longestTokenSpan`. */
  readonly tokenSpan: number;
}

/** Throws: `model_invalid` naming the file. */
export async function readTextFiles(modelDir: string): Promise<TextFiles> {
  const files = await readTokenizerFiles(modelDir);
  const tokenizer = new Tokenizer(files);
  return {
    config: files.config,
    generationConfig: files.generationConfig,
    tokenizer,
    templates: await readChatTemplates(modelDir, files.config),
    tokenSpan: longestTokenSpan(files.tokenizer, tokenizer.tokenBytes),
  };
}

export interface FindTextFaultOptions {
  /** Whether an engine would take its defaults from generation_config.json, as its option of this name says. Default: false. */
  readonly modelDefaults?: boolean | undefined;
}

/** Why no engine can read tokenizer, templates and defaults of a folder, naming the file; undefined where one can. */
export async function findTextFault(
  modelDir: string,
  { modelDefaults = false }: FindTextFaultOptions = {},
): Promise<string | undefined> {
  try {
    const { generationConfig } = await readTextFiles(modelDir);
    if (!modelDefaults) return undefined;
    readSamplingDefaults(generationConfig);
    readDefaultMaxTokens(generationConfig);
    return undefined;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return error.message;
  }
}
