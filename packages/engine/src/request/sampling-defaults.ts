// Sampling defaults that a model brings along in generation_config.json.

import type { SamplingParams } from './sampling-params.ts';

const FIELDS = [
  ['temperature', 'temperature'],
  ['top_p', 'topP'],
  ['top_k', 'topK'],
  ['min_p', 'minP'],
] as const;

/**
 * The values the file names, in engine words. `do_sample: false` does not make the default greedy.
 * Source: the reference server reads the same four fields.
 */
export function readSamplingDefaults(config: Readonly<Record<string, unknown>>): Partial<SamplingParams> {
  const defaults: Partial<Record<'temperature' | 'topP' | 'topK' | 'minP', number>> = {};
  for (const [published, field] of FIELDS) {
    const value = config[published];
    if (typeof value === 'number') defaults[field] = value;
  }
  return defaults;
}
