// Vectors 52 to 59: log probabilities.

import { expect } from 'vitest';
import type { Json } from '../../support/chat-client.ts';
import { vector } from './vector.ts';

export const logprobs = [
  vector(52, 'there are no alternatives unless a count is given', ['logprobs'], async ({ client }) => {
    const { choices, usage } = await client.chat({ logprobs: true, max_tokens: 6 });
    const { content } = choices[0].logprobs;
    expect(content).toHaveLength(usage.completion_tokens);
    for (const entry of content) {
      expect(Object.keys(entry).sort()).toEqual(['bytes', 'logprob', 'token', 'top_logprobs']);
      expect(entry.top_logprobs).toEqual([]);
      expect(entry.logprob).toBeGreaterThanOrEqual(-9999);
      expect(entry.logprob).toBeLessThanOrEqual(0);
    }
  }),
  vector(53, 'the sampled token is first among its alternatives', ['top_logprobs'], async ({ client }) => {
    const fields = {
      logprobs: true,
      top_logprobs: 2,
      max_tokens: 8,
      temperature: 2,
      top_k: 0,
      top_p: 1,
      seed: 3,
    };
    const { content } = (await client.chat(fields)).choices[0].logprobs;
    for (const { token, logprob, top_logprobs } of content) {
      expect(top_logprobs.length).toBeLessThanOrEqual(2);
      expect(top_logprobs[0]).toMatchObject({ token, logprob });
    }
  }),
  vector(54, 'alternatives need logprobs', ['top_logprobs', 'logprobs'], async ({ client }) => {
    await client.refused({ top_logprobs: 2 }, 'top_logprobs');
    await client.refused({ top_logprobs: 2, logprobs: null }, 'top_logprobs');
    await client.chat({ top_logprobs: 0, max_tokens: 1 });
    await client.chat({ top_logprobs: null, logprobs: true, max_tokens: 1 });
  }),
  vector(55, 'there are at most 20 alternatives', ['top_logprobs'], async ({ client }) => {
    await client.refused({ logprobs: true, top_logprobs: 21 }, 'logprobs');
    await client.refused({ logprobs: true, top_logprobs: -1 });
    await client.refused({ logprobs: true, top_logprobs: -2 }, 'top_logprobs');
    const { choices } = await client.chat({ logprobs: true, top_logprobs: 20, max_tokens: 1 });
    expect(choices[0].logprobs.content[0].top_logprobs).toHaveLength(20);
  }),
  vector(
    56,
    'log probabilities are those of the model alone',
    ['logprobs', 'temperature'],
    async ({ client, x }) => {
      const of = async (fields: object) =>
        (await client.chat({ logprobs: true, max_tokens: 1, allowed_token_ids: [x], ...fields })).choices[0]
          .logprobs.content[0].logprob;
      const plain = await of({ temperature: 0.1 });
      expect(plain).toBeLessThan(0);
      for (const fields of [{ temperature: 2 }, { logit_bias: { [x]: -50 } }, { presence_penalty: 2 }])
        expect(await of(fields)).toBeCloseTo(plain, 5);
    },
  ),
  vector(
    57,
    'tokens may be written as ids',
    ['return_tokens_as_token_ids', 'return_token_ids'],
    async ({ client }) => {
      const fields = { logprobs: true, top_logprobs: 1, max_tokens: 4, return_tokens_as_token_ids: true };
      const { token_ids, logprobs } = (await client.chat({ ...fields, return_token_ids: true })).choices[0];
      expect(logprobs.content.map(({ token }: Json) => token)).toEqual(
        token_ids.map((id: number) => `token_id:${id}`),
      );
      for (const { token, bytes, top_logprobs } of logprobs.content) {
        expect(top_logprobs[0].bytes).toEqual([...Buffer.from(token)]);
        expect(Buffer.from(bytes).toString()).not.toContain('token_id:');
      }
    },
  ),
  vector(
    59,
    'the prompt has log probabilities by token id',
    ['prompt_logprobs', 'stream'],
    async ({ client }) => {
      const fields = { max_tokens: 1, return_token_ids: true };
      for (const count of [0, 2]) {
        const body = await client.chat({ ...fields, prompt_logprobs: count });
        expect(body.prompt_logprobs).toHaveLength(body.usage.prompt_tokens);
        expect(body.prompt_logprobs[0]).toBeNull();
        for (const [place, entry] of body.prompt_logprobs.entries()) {
          if (entry === null) continue;
          const own = entry[body.prompt_token_ids[place]];
          expect(Object.keys(own).sort()).toEqual(['decoded_token', 'logprob', 'rank']);
          const keyCount = Object.keys(entry).length;
          expect(own.rank <= count ? keyCount === count : keyCount === count + 1).toBe(true);
          const ranks = Object.values<Json>(entry).map(({ rank }) => rank);
          if (count > 0) expect(Math.min(...ranks)).toBe(1);
        }
      }
      await client.refused({ prompt_logprobs: 1, stream: true }, 'prompt_logprobs');
      await client.refused({ prompt_logprobs: -2 }, 'prompt_logprobs');
      await client.refused({ prompt_logprobs: -1 }, 'prompt_logprobs');
      await client.refused({ prompt_logprobs: 21 }, 'prompt_logprobs');
      await client.stream({ prompt_logprobs: 0, max_tokens: 1 });
    },
  ),
];
