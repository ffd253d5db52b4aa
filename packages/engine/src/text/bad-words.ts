// Bad words: validates `badWords` of a request and turns them into the token sequences that must not be completed. A word can
// still occur in another tokenization.

import { nextTurn } from '@ortler/worker';
import { wrongParameter } from '../request/parameter-checks.ts';
import type { PromptEncoder } from './prompt-encoder.ts';

const BAD_WORD_LIMIT = 1024;
/** Unit: UTF-16 code units. Every word is tokenized twice, mostly on the thread that serves all requests. */
const BAD_WORD_LENGTH_LIMIT = 256;
const BAD_WORDS_LENGTH_LIMIT = 16_384;
/** Words encoded between two yields: this many of the longest take one or two milliseconds. */
const WORDS_PER_TURN = 16;

/** The words, each once. Throws: `invalid_request` naming the word. */
export function validateBadWords(words: readonly string[]): readonly string[] {
  const path = 'badWords';
  if (words.length > BAD_WORD_LIMIT) {
    throw wrongParameter(path, `${path} must hold at most ${BAD_WORD_LIMIT} words; got ${words.length}.`);
  }
  let totalLength = 0;
  for (const [index, word] of words.entries()) {
    const wordPath = `${path}[${index}]`;
    if (word.length === 0) throw wrongParameter(wordPath, `${wordPath} must not be empty.`);
    if (word.length > BAD_WORD_LENGTH_LIMIT) {
      const problem = `${wordPath} must have at most ${BAD_WORD_LENGTH_LIMIT} characters; got ${word.length}.`;
      throw wrongParameter(wordPath, problem);
    }
    totalLength += word.length;
  }
  if (totalLength > BAD_WORDS_LENGTH_LIMIT) {
    const problem = `${path} must have at most ${BAD_WORDS_LENGTH_LIMIT} characters in all; got ${totalLength}.`;
    throw wrongParameter(path, problem);
  }
  return [...new Set(words)];
}

/**
 * Sequences of at least one token, at most two for each word: the word as the start of a text, and as it follows a
 * space where that is as long and begins with another token. Long lists yield to the event loop, so that other
 * requests are served in between.
 * Source: vLLM's rule. Throws: `invalid_request` for a word that is white space or that the vocabulary cannot say.
 */
export async function tokenizeBadWords(
  prompts: Pick<PromptEncoder, 'encode'>,
  words: readonly string[],
): Promise<readonly (readonly number[])[]> {
  const sequences: (readonly number[])[] = [];
  for (const [index, word] of words.entries()) {
    if (index % WORDS_PER_TURN === WORDS_PER_TURN - 1) await nextTurn();
    const path = `badWords[${index}]`;
    const bare = word.trimStart();
    if (bare === '') throw wrongParameter(path, `${path} must not be white space alone.`);
    const atStart = [...(await prompts.encode(bare, false))];
    const afterSpace = [...(await prompts.encode(` ${bare}`, false))];
    if (atStart.length === 0) throw wrongParameter(path, `${path} has no tokens in the model's vocabulary.`);
    sequences.push(atStart);
    if (afterSpace[0] !== atStart[0] && afterSpace.length === atStart.length) sequences.push(afterSpace);
  }
  return sequences;
}
