import { expect, test } from 'vitest';
import type { Answer } from './answer.ts';
import { compareAnswers } from './compare-answers.ts';

const answerOf = (tokenIds: readonly number[], gaps = tokenIds.map(() => 1)): Answer => ({
  tokenIds,
  text: '',
  ended: true,
  gaps,
});

test('equal answers agree', () => {
  const answers = [answerOf([1, 2, 3]), answerOf([4])];
  expect(compareAnswers(answers, answers)).toMatchObject({
    equal: 2,
    ties: 0,
    different: 0,
    commonTokens: 4,
    referenceTokens: 4,
    differences: [],
  });
});

test('a difference is a tie where the reference was undecided at its first token, and only there', () => {
  const undecided = answerOf([1, 2, 3], [1, 0.04, 1]);
  const later = answerOf([1, 2, 3], [1, 1, 0.04]);
  const changed = answerOf([1, 9, 9]);
  expect(compareAnswers([changed, changed], [undecided, later])).toMatchObject({
    equal: 0,
    ties: 1,
    different: 1,
    commonTokens: 2,
    differences: [
      { answer: 0, position: 1, gap: 0.04 },
      { answer: 1, position: 1, gap: 1 },
    ],
  });
});

test('an answer that goes on after the reference is different', () => {
  expect(compareAnswers([answerOf([1, 2])], [answerOf([1])])).toMatchObject({
    different: 1,
    differences: [{ position: 1, gap: Infinity }],
  });
});

test('answers to other prompts are refused', () => {
  expect(() => compareAnswers([], [answerOf([1])])).toThrow('not comparable');
});
