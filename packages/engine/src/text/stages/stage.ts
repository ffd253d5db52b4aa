// The stages around the model of tokenizer.json (normalizer, pre-tokenizer, post-processor, decoder), as published.

import { EngineError } from '../../errors.ts';

/** One stage; its fields depend on `type`. */
export interface StageJson {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** The stages of a sequence stage in order, or the stage alone. Throws: `model_invalid` for a sequence without its list. */
export function stagesOf(stage: StageJson | null, listField: string): readonly StageJson[] {
  if (stage === null) return [];
  if (stage.type !== 'Sequence') return [stage];
  const list = stage[listField];
  if (!Array.isArray(list)) throw unsupported('Sequence', `without ${listField}`, `a list of ${listField}`);
  return (list as StageJson[]).flatMap(inner => stagesOf(inner, listField));
}

/** A stage, or an option of one, that is not computed exactly as the original does. */
export function unsupported(what: string, found: string, allowed: string): EngineError {
  return new EngineError(
    'model_invalid',
    `tokenizer.json of the model folder has the ${what} "${found}", which is not supported; supported: ${allowed}.`,
  );
}

/** The pattern of a `Replace` or `Split` stage: a text to find as it is, or a regular expression of Oniguruma. */
export interface PatternJson {
  readonly String?: string;
  readonly Regex?: string;
}

/** Throws: `model_invalid` for a stage without a pattern. */
export function patternOf(stage: StageJson): PatternJson {
  const pattern = (stage.pattern ?? {}) as PatternJson;
  if (typeof pattern.String === 'string' || typeof pattern.Regex === 'string') return pattern;
  throw unsupported(`${stage.type} pattern`, JSON.stringify(stage.pattern), 'String, Regex');
}
