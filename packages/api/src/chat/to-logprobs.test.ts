import type { CandidateLogprob, TokenLogprob } from '@ortler/engine';
import { expect, it } from 'vitest';
import { toChoiceLogprobs } from './to-logprobs.ts';

const candidate = (tokenId: number, text: string, logprob: number, rank: number): CandidateLogprob => ({
  tokenId,
  text,
  bytes: new TextEncoder().encode(text),
  logprob,
  rank,
});
const [a, b, c] = [candidate(1, 'a', -0.5, 1), candidate(2, 'b', -1, 2), candidate(3, 'c', -2, 3)];
const sampled = (of: CandidateLogprob, ...top: CandidateLogprob[]): TokenLogprob => ({ ...of, top });
const first = (token: TokenLogprob, topCount: number, asTokenIds = false) =>
  toChoiceLogprobs([token], { topCount, asTokenIds }).content![0]!;

it('gives the sampled token alone without alternatives', () => {
  expect(first(sampled(a), 0)).toEqual({ token: 'a', logprob: -0.5, bytes: [97], top_logprobs: [] });
});

it.each<[string, TokenLogprob, number, string[]]>([
  ['the best one', sampled(a, a, b), 2, ['a', 'b']],
  ['the second best', sampled(b, a, b), 2, ['b', 'a']],
  ['outside the best, whose last one is missing then', sampled(c, a, b), 2, ['c', 'a']],
  ['outside the one best', sampled(c, a), 1, ['c']],
])('puts the sampled token first when it is %s', (_what, token, count, tokens) => {
  expect(first(token, count).top_logprobs.map(({ token }) => token)).toEqual(tokens);
});

it('writes tokens as ids where asked to, with the bytes of the text in the entry only', () => {
  expect(first(sampled(b, a, b), 2, true)).toEqual({
    token: 'token_id:2',
    logprob: -1,
    bytes: [98],
    top_logprobs: [
      { token: 'token_id:2', logprob: -1, bytes: [...Buffer.from('token_id:2')] },
      { token: 'token_id:1', logprob: -0.5, bytes: [...Buffer.from('token_id:1')] },
    ],
  });
});
