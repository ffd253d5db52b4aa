// Whether the stages of a tokenizer may take texts on the thread that serves all requests. The stages of published tokenizers may.
// Caller: tokenizer.ts.

import type { TokenizerJson } from '../tokenizer-json.ts';
import { compilePattern } from './compile-pattern.ts';
import { isCheapPattern } from './matching-cost.ts';
import { patternOf, stagesOf } from './stage.ts';

const MOST_STAGES = 16;

/** Throws: `model_invalid` for a pattern that is not supported. */
export function hasCheapStages({
  normalizer,
  pre_tokenizer,
}: Pick<TokenizerJson, 'normalizer' | 'pre_tokenizer'>): boolean {
  const stages = [...stagesOf(normalizer, 'normalizers'), ...stagesOf(pre_tokenizer, 'pretokenizers')];
  if (stages.length > MOST_STAGES) return false;
  const patterns = stages
    .filter(({ type }) => type === 'Replace' || type === 'Split')
    .flatMap(stage => patternOf(stage).Regex ?? []);
  return patterns.every(pattern => isCheapPattern(compilePattern(pattern).source));
}
