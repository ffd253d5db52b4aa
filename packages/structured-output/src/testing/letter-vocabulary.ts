// A vocabulary of a few letters and pairs of letters for tests of constraints on the scripted model.

import type { TokenVocabulary } from '../token-vocabulary.ts';

/** Token texts by id: two end tokens, the marks of reasoning, then text. */
export const LETTER_TOKENS = [
  '<|end|>',
  '<|stop|>',
  '<think>',
  '</think>',
  ...'abcdefgh'.split(''),
  ...'{}[]:,"1'.split(''),
  'ab',
  'abc',
  'cd',
  '{"',
] as const;
export const LETTER_ENDS = [0, 1] as const;
/** Ids up to this are padding of the model. */
export const LETTER_COLUMN_COUNT = 40;

const SPECIAL_COUNT = 4;

export const letterVocabulary: TokenVocabulary = {
  columnCount: LETTER_COLUMN_COUNT,
  bytes: new TextEncoder().encode(LETTER_TOKENS.join('')),
  offsets: Uint32Array.from(
    { length: LETTER_TOKENS.length + 1 },
    (_, id) => LETTER_TOKENS.slice(0, id).join('').length,
  ),
  specialTokens: LETTER_TOKENS.slice(0, SPECIAL_COUNT).map((name, id) => ({ id, name })),
  eosTokenIds: LETTER_ENDS,
};

export function letterId(text: string): number {
  const id = LETTER_TOKENS.indexOf(text as (typeof LETTER_TOKENS)[number]);
  if (id < 0) throw new Error(`No token ${text}.`);
  return id;
}

/** Text of tokens; special ones have none. */
export function letterText(tokenIds: readonly number[]): string {
  return tokenIds.map(id => (id < SPECIAL_COUNT ? '' : (LETTER_TOKENS[id] ?? '�'))).join('');
}
