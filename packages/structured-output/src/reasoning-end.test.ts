import { expect, it } from 'vitest';
import { ReasoningEnd } from './reasoning-end.ts';
import { letterId, letterVocabulary } from './testing/letter-vocabulary.ts';

const places = (texts: readonly string[], ...ends: string[]) => {
  const reasoningEnd = new ReasoningEnd(
    letterVocabulary,
    ends.map(end => new TextEncoder().encode(end)),
  );
  return texts.map(letterId).map(id => reasoningEnd.push(id));
};

it.each([
  ['a mark of one token', ['a', '</think>'], ['</think>'], [false, true]],
  ['a mark cut into tokens', ['e', 'ab', 'cd'], ['bcd'], [false, false, true]],
  ['any of several marks', ['a', 'h', 'g'], ['gg', 'hg'], [false, false, true]],
])('finds %s', (_what, texts, ends, found) => {
  expect(places(texts, ...ends)).toEqual(found);
});

it('does not take a token for the end that goes on with other text', () => {
  expect(places(['a', 'abc', 'ab'], 'ab')).toEqual([false, false, true]);
});
