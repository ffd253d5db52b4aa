// The front end without its worker, and a vocabulary of letters, for tests and benchmarks.

export { prepareConstraint } from '../front-end/prepare-constraint.ts';
export { trialVocabulary } from '../dry-run/byte-vocabulary.ts';
export {
  LETTER_COLUMN_COUNT,
  LETTER_ENDS,
  LETTER_TOKENS,
  letterId,
  letterText,
  letterVocabulary,
} from './letter-vocabulary.ts';
