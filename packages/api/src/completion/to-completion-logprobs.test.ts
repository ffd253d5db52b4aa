import type { CandidateLogprob, TokenLogprob } from '@ortler/engine';
import { expect, it } from 'vitest';
import { endOffset, toCompletionLogprobs } from './to-completion-logprobs.ts';

const utf8 = new TextEncoder();
const candidate = (tokenId: number, text: string, logprob: number): CandidateLogprob => ({
  tokenId,
  text,
  bytes: utf8.encode(text),
  logprob,
  rank: 1,
});
const token = (
  [tokenId, text, logprob]: [number, string, number],
  ...top: [number, string, number][]
): { tokenId: number; logprob: TokenLogprob } => ({
  tokenId,
  logprob: { ...candidate(tokenId, text, logprob), top: top.map(entry => candidate(...entry)) },
});
const form = { topCount: 2, asTokenIds: false, decode: (ids: readonly number[]) => `<${ids.join()}>` };

it('puts the token first and then the best others, so there may be one more than asked for', () => {
  const tokens = [
    token([7, 'c', -3], [5, 'a', -0.1], [6, 'b', -2.5]),
    token([5, 'a', -0.1], [5, 'a', -0.1], [6, 'b', -2.5]),
  ];
  const { top_logprobs, token_logprobs } = toCompletionLogprobs(tokens, form, 0);
  expect(token_logprobs).toEqual([-3, -0.1]);
  expect(top_logprobs).toEqual([
    { c: -3, a: -0.1, b: -2.5 },
    { a: -0.1, b: -2.5 },
  ]);
  expect(Object.keys(top_logprobs[0]!)).toEqual(['c', 'a', 'b']);
});

it('lists tokens that are called like a property of every object', () => {
  const tokens = [
    token([7, 'constructor', -1], [7, 'constructor', -1], [8, 'toString', -2], [9, '__proto__', -3]),
  ];
  const [top] = toCompletionLogprobs(tokens, { ...form, topCount: 3 }, 0).top_logprobs;
  expect(JSON.stringify(top)).toBe('{"constructor":-1,"toString":-2,"__proto__":-3}');
});

it('lists the token alone when no others are asked for', () => {
  const lists = toCompletionLogprobs([token([5, 'a', -1])], { ...form, topCount: 0 }, 0);
  expect(lists.top_logprobs).toEqual([{ a: -1 }]);
});

it('counts offsets in characters, not in code units, from where the last lists ended', () => {
  const first = toCompletionLogprobs([token([1, '🎉', -1]), token([2, 'ab', -1])], form, 3);
  expect(first.text_offset).toEqual([3, 4]);
  expect(endOffset(first, 3)).toBe(6);
  expect(endOffset(toCompletionLogprobs([], form, 3), 3)).toBe(3);
});

it('has null for a token without log probability, and its text all the same', () => {
  expect(toCompletionLogprobs([{ tokenId: 9, logprob: null }], form, 0)).toEqual({
    text_offset: [0],
    token_logprobs: [null],
    tokens: ['<9>'],
    top_logprobs: [null],
  });
});

it('writes ids instead of texts everywhere when it is asked to', () => {
  const tokens = [token([7, 'c', -3], [5, 'a', -0.1]), { tokenId: 9, logprob: null }];
  expect(toCompletionLogprobs(tokens, { ...form, asTokenIds: true }, 0)).toMatchObject({
    tokens: ['token_id:7', 'token_id:9'],
    top_logprobs: [{ 'token_id:7': -3, 'token_id:5': -0.1 }, null],
    text_offset: [0, 'token_id:7'.length],
  });
});

it('keeps the value of the more probable one of two tokens with the same text', () => {
  const parts = token([7, '', -3], [5, '', -0.1], [6, '', -2.5]);
  expect(toCompletionLogprobs([parts], form, 0).top_logprobs).toEqual([{ '': -3 }]);
});
