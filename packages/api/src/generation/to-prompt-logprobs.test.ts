import type { CandidateLogprob, TokenLogprob } from '@ortler/engine';
import { chatCompletionRequest, completionRequest } from '@ortler/schemas';
import { describe, expect, it } from 'vitest';
import { toChatCompletion } from '../chat/to-chat-completion.ts';
import { toCompletion } from '../completion/to-completion.ts';
import { MAX_PROMPT_LOGPROB_COUNT, toPromptLogprobs } from './to-prompt-logprobs.ts';

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

describe('answers with too many', () => {
  const token = sampled(a, ...new Array<CandidateLogprob>(20).fill(b));
  const ready = (count: number) => ({
    kind: 'prompt-ready' as const,
    promptTokenIds: [],
    cachedTokenCount: 0,
    promptLogprobs: new Array<TokenLogprob>(count).fill(token),
  });
  const tooLarge = expect.objectContaining({ reason: 'answer_too_large', param: 'prompt_logprobs' });
  const limit = Math.floor(MAX_PROMPT_LOGPROB_COUNT / 21);

  it('are refused in chats, whose choices share one prompt', async () => {
    const request = chatCompletionRequest.parse({ messages: [{ role: 'user', content: 'a' }], n: 3 });
    const header = { id: 'c', created: 1, model: 'm', role: 'assistant', echoedText: '' };
    const answer = (count: number) =>
      toChatCompletion(
        header,
        (async function* () {
          yield ready(count);
        })(),
        { request, form: { withIds: false, logprobs: null, hasMarks: false, countsReasoning: false } },
      );
    await expect(answer(limit + 1)).rejects.toThrow(tooLarge);
    // What is short enough is read on, to the end that these events lack.
    await expect(answer(100)).rejects.toThrow('without its usage');
  });

  it('are refused in completions, where each choice has those of its prompt', async () => {
    const request = completionRequest.parse({ prompt: ['a', 'b'], n: 64 });
    const header = { id: 'c', object: 'text_completion' as const, created: 1, model: 'm' };
    const answer = (count: number) =>
      toCompletion(
        header,
        (async function* () {
          for (const index of [0, 1]) yield { index, value: ready(count) };
        })(),
        { engine: { decode: () => '' }, request },
      );
    await expect(answer(Math.floor(limit / 128) + 1)).rejects.toThrow(tooLarge);
    expect((await answer(10)).choices).toHaveLength(128);
  });
});
