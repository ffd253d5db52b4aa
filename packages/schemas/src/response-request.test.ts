import { expect, it } from 'vitest';
import { extendedFields, latestFields, samplingFields } from './chat-sampling.ts';
import { responseRequest } from './response-request.ts';

it('takes every sampling and stopping field of a chat, but for those with their reason', () => {
  const ofChat = Object.keys({ ...samplingFields, ...extendedFields, ...latestFields });
  const missing = ofChat.filter(field => !Object.hasOwn(responseRequest.shape, field));
  expect(missing).toEqual([
    // A response has one answer, and no place for log probabilities of its prompt.
    'use_beam_search',
    'length_penalty',
    // Without effect in a chat.
    'spaces_between_special_tokens',
    // `truncation` here.
    'truncate_prompt_tokens',
    'prompt_logprobs',
  ]);
});
