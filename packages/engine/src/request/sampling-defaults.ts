// Defaults of a model from generation_config.json. An invalid value is refused when the model is loaded, not in every
// request.

import { EngineError } from '../errors.ts';
import {
  findSamplingFault,
  SAMPLING_FIELD_NAMES,
  type SamplingFieldName,
  type SamplingParams,
} from './sampling-params.ts';

/**
 * The sampling parameters that the file sets. `do_sample: false` does not make the default greedy.
 * Source: the reference server reads the same fields. Throws: `model_invalid`.
 */
export function readSamplingDefaults(config: Readonly<Record<string, unknown>>): Partial<SamplingParams> {
  const defaults: Partial<Record<SamplingFieldName, number>> = {};
  for (const field of SAMPLING_FIELD_NAMES) {
    const name = toSnakeCase(field);
    // The other way in which published files and the reference server turn top-k off.
    const value = field === 'topK' && config[name] === -1 ? 0 : config[name];
    if (value === undefined || value === null) continue;
    const fault = findSamplingFault(field, value);
    if (fault !== undefined) throw toInvalidFile(`${name} ${fault}`);
    defaults[field] = value as number;
  }
  return defaults;
}

/** `max_new_tokens` of the file; undefined when it names none. Throws: `model_invalid`. */
export function readDefaultMaxTokens(config: Readonly<Record<string, unknown>>): number | undefined {
  const value = config.max_new_tokens;
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
  throw toInvalidFile(`max_new_tokens must be a whole number above 0; got ${JSON.stringify(value)}`);
}

function toInvalidFile(fault: string): EngineError {
  return new EngineError('model_invalid', `generation_config.json of the model folder: ${fault}.`);
}

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
}
