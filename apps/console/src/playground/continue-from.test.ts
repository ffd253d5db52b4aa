import { expect, it } from 'vitest';
import type { ShownToken } from './answer-reader.ts';
import { beginningOf, canForkAt, closestId, promptOf } from './continue-from.ts';

const token = (id: number | null, text: string, part: ShownToken['part'] = 'answer'): ShownToken => ({
  id,
  text,
  part,
  logprob: -0.5,
  candidates: [{ text: 'x', logprob: -2 }],
});
const answer = {
  promptTokenIds: [1, 2],
  reasoning: '',
  tokens: [token(3, 'The'), token(4, ' cat'), token(5, ' sat')],
};

const dog = { text: ' dog', logprob: -2 };

it('gives the model the exact ids before the fork, and the candidate', () => {
  const beginning = beginningOf({ answer, index: 1, candidate: dog }, 9);
  expect(beginning).toMatchObject({
    content: 'The dog',
    promptTokenIds: [1, 2],
    tokens: [
      { id: 3, text: 'The' },
      { id: 9, text: ' dog', logprob: -2, candidates: [{ text: 'x' }] },
    ],
  });
  expect(promptOf(beginning)).toEqual([1, 2, 3, 9]);
});

it('keeps reasoning apart after it, and within it goes on with one text', () => {
  const thoughtful = { ...answer, reasoning: 'Hm', tokens: [token(3, 'Hm', 'reasoning'), ...answer.tokens] };
  expect(beginningOf({ answer: thoughtful, index: 2, candidate: dog }, 9)).toMatchObject({
    content: 'The dog',
    reasoning: 'Hm',
  });
  expect(beginningOf({ answer: thoughtful, index: 0, candidate: dog }, 9)).toMatchObject({
    content: ' dog',
    reasoning: '',
  });
});

it('finds the candidate by its log probability', () => {
  const listed = { 'token_id:7': -0.1, 'token_id:9': -2.00001, 'token_id:11': -2.5 };
  expect(closestId(listed, -2)).toBe(9);
  expect(closestId(listed, -4)).toBe(null);
  expect(closestId({}, -4)).toBe(null);
});

it('forks only where all ids before are known', () => {
  expect(canForkAt(answer, 2)).toBe(true);
  expect(canForkAt({ ...answer, promptTokenIds: [] }, 2)).toBe(false);
  expect(canForkAt({ ...answer, tokens: [token(null, 'a'), token(4, 'b')] }, 1)).toBe(false);
});
