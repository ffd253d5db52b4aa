import type { CandidateLogprob, TokenLogprob } from '@ortler/engine';
import { expect, it } from 'vitest';
import { toPromptLogprobs } from './to-prompt-logprobs.ts';

const candidate = (tokenId: number, text: string, logprob: number, rank: number): CandidateLogprob => ({
  tokenId,
  text,
  bytes: new TextEncoder().encode(text),
  logprob,
  rank,
});
const [a, b, c] = [candidate(1, 'a', -0.5, 1), candidate(2, 'b', -1, 2), candidate(3, 'c', -2, 3)];
const sampled = (of: CandidateLogprob, ...top: CandidateLogprob[]): TokenLogprob => ({ ...of, top });

it('keys the probabilities of the prompt by id, each once, null for the first token', async () => {
  expect(await toPromptLogprobs([null, sampled(c, a, b), sampled(a, a), sampled(b)])).toEqual([
    null,
    {
      3: { logprob: -2, rank: 3, decoded_token: 'c' },
      1: { logprob: -0.5, rank: 1, decoded_token: 'a' },
      2: { logprob: -1, rank: 2, decoded_token: 'b' },
    },
    { 1: { logprob: -0.5, rank: 1, decoded_token: 'a' } },
    { 2: { logprob: -1, rank: 2, decoded_token: 'b' } },
  ]);
});

it('lets others run while a long prompt is written', async () => {
  let turnCount = 0;
  let isOver = false;
  const takeTurn = () => {
    turnCount++;
    if (!isOver) setImmediate(takeTurn);
  };
  setImmediate(takeTurn);
  const entries = await toPromptLogprobs(new Array(2_000).fill(sampled(c, a, b)));
  isOver = true;
  expect(turnCount).toBeGreaterThan(5);
  expect(entries).toHaveLength(2_000);
});
