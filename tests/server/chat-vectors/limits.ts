// Vectors 18 to 36: ranges, and prompts against the context.

import { expect } from 'vitest';
import { type VectorContext, vector } from './vector.ts';

/** More tokens than the context holds, whatever the tokenizer makes of it. */
const longMessages = ({ contextLength }: VectorContext) => [
  { role: 'user', content: 'one two three '.repeat(contextLength) },
];

export const limits = [
  vector(18, 'n is at least 1', ['n'], async ({ client }) => {
    await client.refused({ n: 0 }, 'n');
    await client.refused({ n: -1 }, 'n');
    await client.refused({ n: 100_000 }, 'n');
  }),
  vector(19, 'greedy answers are all the same, so there is one', ['n', 'temperature'], async ({ client }) => {
    await client.refused({ n: 2, temperature: 0 }, 'n');
  }),
  vector(20, 'temperature is 0 to 2', ['temperature'], async ({ client }) => {
    await client.refused({ temperature: -1 }, 'temperature', 'BadRequestError');
    await client.refused({ temperature: 2.1 }, 'temperature', 'BadRequestError');
    await client.chat({ temperature: 2, max_tokens: 1 });
  }),
  vector(21, 'top_p is above 0 and at most 1', ['top_p'], async ({ client }) => {
    await client.refused({ top_p: 0 }, 'top_p');
    await client.refused({ top_p: 1.1 }, 'top_p');
    await client.chat({ top_p: 1, max_tokens: 1 });
  }),
  vector(22, 'top_k is -1 or more', ['top_k'], async ({ client }) => {
    await client.chat({ top_k: -1, max_tokens: 1 });
    await client.chat({ top_k: 1_000_000, max_tokens: 1 });
    await client.refused({ top_k: -2 }, 'top_k');
  }),
  vector(23, 'min_p is 0 to 1', ['min_p'], async ({ client }) => {
    await client.refused({ min_p: 1.1 }, 'min_p');
    await client.refused({ min_p: -0.1 }, 'min_p');
  }),
  vector(24, 'penalties are -2 to 2', ['frequency_penalty', 'presence_penalty'], async ({ client }) => {
    await client.refused({ frequency_penalty: 2.1 }, 'frequency_penalty');
    await client.refused({ presence_penalty: -2.1 }, 'presence_penalty');
    await client.chat({ frequency_penalty: -2, presence_penalty: 2, max_tokens: 1 });
  }),
  vector(25, 'repetition_penalty is above 0', ['repetition_penalty'], async ({ client }) => {
    await client.refused({ repetition_penalty: 0 }, 'repetition_penalty');
    await client.refused({ repetition_penalty: -1 }, 'repetition_penalty');
  }),
  vector(
    26,
    'at least one token is asked for',
    ['max_tokens', 'max_completion_tokens'],
    async ({ client }) => {
      await client.refused({ max_tokens: 0 }, 'max_tokens');
      await client.refused({ max_completion_tokens: -1 }, 'max_completion_tokens');
    },
  ),
  vector(27, 'min_tokens is at most max_tokens', ['min_tokens'], async ({ client }) => {
    await client.refused({ min_tokens: 5, max_tokens: 3 }, 'min_tokens');
    await client.refused({ min_tokens: -1 }, 'min_tokens');
  }),
  vector(28, 'a seed has 64 bits, and -1 is none', ['seed'], async ({ client }) => {
    await client.refused({ seed: 1e30 }, 'seed', 'Bad Request');
    await client.refused({ seed: 0.5 }, 'seed', 'Bad Request');
    for (const seed of [-1, -(2 ** 63), 2 ** 63]) await client.chat({ seed, max_tokens: 1 });
  }),
  vector(29, 'a bias names tokens of the vocabulary', ['logit_bias'], async ({ client, vocabSize }) => {
    for (const key of ['abc', '', '1.5', '-1', String(vocabSize), '9'.repeat(30)])
      await client.refused({ logit_bias: { [key]: 1 } }, 'logit_bias');
  }),
  vector(
    30,
    'some token of the vocabulary is allowed',
    ['allowed_token_ids'],
    async ({ client, vocabSize }) => {
      for (const ids of [[], [vocabSize], [-1]])
        await client.refused({ allowed_token_ids: ids }, 'allowed_token_ids');
    },
  ),
  vector(31, 'a bad word is not empty', ['bad_words'], async ({ client }) => {
    await client.refused({ bad_words: [''] }, 'bad_words');
  }),
  vector(32, 'a stop is a text or a list of texts', ['stop'], async ({ client }) => {
    await client.refused({ stop: [''] }, 'stop', 'BadRequestError');
    await client.refused({ stop: [1] }, undefined, 'Bad Request');
    for (const stop of ['x', null, [], ['x', 'y']]) await client.chat({ stop, max_tokens: 1 });
  }),
  vector(33, 'no more tokens than the context', ['max_tokens'], async ({ client, contextLength }) => {
    await client.refused({ max_tokens: contextLength + 1 }, 'max_tokens');
    await client.refused({ max_completion_tokens: contextLength + 1 }, 'max_completion_tokens');
    const { code } = await client.refused({ max_tokens: contextLength }, 'messages');
    expect(code).toBe('context_length_exceeded');
  }),
  vector(34, 'a long prompt is refused or truncated', ['truncate_prompt_tokens'], async context => {
    const { client, contextLength } = context;
    const messages = longMessages(context);
    const { code } = await client.refused({ messages }, 'messages', 'BadRequestError');
    expect(code).toBe('context_length_exceeded');
    const { usage } = await client.chat({ messages, truncate_prompt_tokens: -1, max_tokens: 1 });
    expect(usage.prompt_tokens).toBe(contextLength - 1);
  }),
  vector(35, 'the end of the prompt is kept', ['truncate_prompt_tokens'], async ({ client }) => {
    const fields = { max_tokens: 1, return_token_ids: true };
    const whole = await client.chat(fields);
    for (const count of [1, 4]) {
      const { usage, prompt_token_ids } = await client.chat({ ...fields, truncate_prompt_tokens: count });
      expect(usage.prompt_tokens).toBe(count);
      expect(prompt_token_ids).toEqual(whole.prompt_token_ids.slice(-count));
    }
  }),
  vector(
    36,
    'truncation leaves something that fits',
    ['truncate_prompt_tokens'],
    async ({ client, contextLength }) => {
      await client.refused({ truncate_prompt_tokens: -2 }, 'truncate_prompt_tokens', 'Bad Request');
      await client.refused({ truncate_prompt_tokens: 0 }, 'truncate_prompt_tokens');
      await client.refused(
        { truncate_prompt_tokens: contextLength, max_tokens: 1 },
        'truncate_prompt_tokens',
      );
    },
  ),
];
