// The tokens that end an answer: the one that tokenizer_config.json names, and those of the model's configuration.

import { EngineError } from '../errors.ts';
import type { JsonObject } from './tokenizer-json.ts';
import { isObject } from './tokenizer-json.ts';

/** Each new token is compared with all of them; published models have three at most. */
const MOST_IDS = 1_024;

/**
 * The main id first, then the ids of generation_config.json; without any there, those of config.json or of its `text_config`,
 * where models that also see or hear keep the configuration of their language model. Throws: `model_invalid` for other shapes.
 */
export function readEndTokenIds(
  main: number | null,
  generationConfig: JsonObject,
  modelConfig: JsonObject,
): readonly number[] {
  const textConfig = isObject(modelConfig.text_config) ? modelConfig.text_config : {};
  const configured =
    idsOf(generationConfig, 'generation_config.json') ??
    idsOf(modelConfig, 'config.json') ??
    idsOf(textConfig, 'config.json (text_config)') ??
    [];
  return [...new Set([...(main === null ? [] : [main]), ...configured])];
}

function idsOf({ eos_token_id: entry }: JsonObject, file: string): readonly number[] | undefined {
  if (entry === undefined || entry === null) return undefined;
  const ids = Array.isArray(entry) ? entry : [entry];
  // Some configurations say -1 for no such token.
  if (ids.length <= MOST_IDS && ids.every(id => Number.isInteger(id))) return ids.filter(id => id >= 0);
  const message = `${file} of the model folder is unusable: "eos_token_id" must be a token id or a list of at most ${MOST_IDS} of them.`;
  throw new EngineError('model_invalid', message);
}
