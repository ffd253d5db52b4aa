// The front end without its worker thread, and two small vocabularies, for tests and benchmarks.

export { byteVocabulary } from '../dry-run/byte-vocabulary.ts';
export { prepareConstraint } from '../front-end/prepare-constraint.ts';
export {
  LETTER_COLUMN_COUNT,
  LETTER_ENDS,
  letterId,
  letterText,
  letterVocabulary,
} from './letter-vocabulary.ts';
