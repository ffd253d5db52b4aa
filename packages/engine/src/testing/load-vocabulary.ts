// Loads the token vocabulary of a tokenizer folder for constraints, for benchmarks on token ids.

import {
  type ConstraintSpec,
  DEFAULT_CONSTRAINT_LIMITS,
  LlguidanceEngine,
  type PreparedConstraint,
  type TokenVocabulary,
} from '@ortler/structured-output';
import { byteVocabulary, prepareConstraint } from '@ortler/structured-output/testing';
import { toTokenVocabulary } from '../text/to-token-vocabulary.ts';
import { Tokenizer } from '../text/tokenizer.ts';
import { readTokenizerFiles } from '../text/tokenizer-json.ts';

export interface LoadedVocabulary {
  readonly vocabulary: TokenVocabulary;
  readonly encode: (text: string) => readonly number[];
  /** Like the worker of the text side, but in this thread and without its time limit. */
  readonly prepare: (spec: ConstraintSpec) => PreparedConstraint;
}

/** `columnCount`: the length of a row of logits. */
export async function loadVocabulary(folder: string, columnCount: number): Promise<LoadedVocabulary> {
  const tokenizer = new Tokenizer(await readTokenizerFiles(folder));
  const vocabulary = toTokenVocabulary(tokenizer, columnCount);
  const { specialTokens } = vocabulary;
  const dryRunEngine = new LlguidanceEngine(byteVocabulary(specialTokens), { cacheBytes: 0 });
  return {
    vocabulary,
    encode: text => tokenizer.encode(text, { addSpecialTokens: false }),
    prepare: spec =>
      prepareConstraint(spec, {
        limits: DEFAULT_CONSTRAINT_LIMITS,
        specialTokens,
        tryCompile: grammar => dryRunEngine.compile(grammar).dispose(),
        fitsMaskBudget: () => true,
      }),
  };
}
