// Vectors 1 to 17: ordinary answers, names, and the lenient reading of values.

import { expect } from 'vitest';
import { CHAT_PATH, USER } from '../../support/chat-client.ts';
import { vector } from './vector.ts';

export const basics = [
  vector(1, 'one token is one choice with its usage', ['messages', 'max_tokens'], async ({ client }) => {
    const { choices, usage } = await client.chat({ max_tokens: 1 });
    expect(choices).toHaveLength(1);
    expect(usage.completion_tokens).toBe(1);
    expect(usage.total_tokens).toBe(usage.prompt_tokens + 1);
    expect(['length', 'stop']).toContain(choices[0].finish_reason);
  }),
  vector(
    2,
    'only allowed tokens come, and ids stand beside the text',
    ['allowed_token_ids', 'return_token_ids'],
    async ({ client, x }) => {
      const body = await client.chat({ allowed_token_ids: [x], max_tokens: 3, return_token_ids: true });
      expect(body.choices[0]).toMatchObject({
        token_ids: [x, x, x],
        finish_reason: 'length',
        stop_reason: null,
      });
      expect(body.prompt_token_ids).toHaveLength(body.usage.prompt_tokens);
    },
  ),
  vector(3, 'a bias acts on greedy answers', ['logit_bias', 'temperature'], async ({ client, x }) => {
    const { choices } = await client.chat({
      logit_bias: { [x]: 100 },
      temperature: 0,
      max_tokens: 2,
      return_token_ids: true,
    });
    expect(choices[0].token_ids).toEqual([x, x]);
  }),
  vector(4, 'a bias is cut to 100', ['logit_bias'], async ({ client, x }) => {
    const ids = async (bias: number) =>
      (
        await client.chat({
          logit_bias: { [x]: bias },
          temperature: 0,
          max_tokens: 4,
          return_token_ids: true,
        })
      ).choices[0].token_ids;
    expect(await ids(1000)).toEqual(await ids(100));
  }),
  vector(5, 'no model is the default model', ['model'], async ({ client }) => {
    for (const model of [undefined, null, ''])
      expect((await client.chat({ model, max_tokens: 1 })).model).toBe('ortler-demo');
  }),
  vector(6, 'an unknown model is not found', ['model'], async ({ client }) => {
    const { status, body } = await client.post(CHAT_PATH, { messages: USER, model: 'nope' });
    expect(status).toBe(404);
    expect(body.error).toMatchObject({ type: 'NotFoundError', param: 'model', code: 404 });
  }),
  vector(7, 'unknown fields are ignored', [], async ({ client }) => {
    await client.chat({ foo: 1, max_tokens: 1 });
  }),
  vector(
    8,
    'the request id is part of the id, the header before the body',
    ['request_id'],
    async ({ client }) => {
      const fields = { request_id: 'abc', max_tokens: 1 };
      expect((await client.chat(fields)).id).toBe('chatcmpl-abc');
      expect((await client.chat(fields, { 'x-request-id': 'h' })).id).toBe('chatcmpl-h');
      expect((await client.chat({ max_tokens: 1 })).id).toMatch(/^chatcmpl-\w{16,}$/);
    },
  ),
  vector(9, 'the path may end with a slash', [], async ({ client }) => {
    const reply = await client.post(`${CHAT_PATH}/`, { messages: USER, max_tokens: 1 });
    expect(reply.status).toBe(200);
  }),
  vector(
    10,
    'max_completion_tokens wins over max_tokens',
    ['max_tokens', 'max_completion_tokens'],
    async ({ client, x }) => {
      const fields = { max_tokens: 5, max_completion_tokens: 2, allowed_token_ids: [x] };
      expect((await client.chat(fields)).usage.completion_tokens).toBe(2);
      expect((await client.chat({ ...fields, max_completion_tokens: null })).usage.completion_tokens).toBe(5);
    },
  ),
  vector(11, 'what there is nothing to say of is null', [], async ({ client }) => {
    const body = await client.chat({ max_tokens: 1 });
    expect(body).toMatchObject({
      service_tier: null,
      system_fingerprint: null,
      prompt_logprobs: null,
      prompt_token_ids: null,
      kv_transfer_params: null,
    });
    expect(body.choices[0]).toMatchObject({ logprobs: null, token_ids: null });
    expect(body.choices[0]).toHaveProperty('stop_reason');
    expect(body.choices[0].message).toMatchObject({
      refusal: null,
      annotations: null,
      audio: null,
      function_call: null,
      tool_calls: [],
    });
  }),
  vector(12, 'numbers may be text', ['temperature'], async ({ client }) => {
    await client.chat({ temperature: '0.5', max_tokens: 1 });
  }),
  vector(13, 'a whole float is an integer', ['n'], async ({ client }) => {
    const text = JSON.stringify({ messages: USER, max_tokens: 1, n: 7 }).replace('"n":7', '"n":1.0');
    expect((await client.post(CHAT_PATH, text)).status).toBe(200);
  }),
  vector(14, 'a fraction is not an integer', ['n'], async ({ client }) => {
    await client.refused({ n: 1.5 }, 'n', 'Bad Request');
  }),
  vector(15, 'yes is true', ['stream'], async ({ client }) => {
    const chunks = await client.stream({ max_tokens: 1 });
    const reply = await fetch(client.url + CHAT_PATH, {
      method: 'POST',
      headers: client.headers,
      body: JSON.stringify({ messages: USER, max_tokens: 1, stream: 'yes' }),
    });
    expect(reply.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect((await reply.text()).match(/^data: \{/gm)).toHaveLength(chunks.length);
  }),
  vector(16, 'a number other than 0 and 1 is not a boolean', ['stream'], async ({ client }) => {
    await client.refused({ stream: 2 }, 'stream', 'Bad Request');
  }),
  vector(17, 'a number is not text', ['user'], async ({ client }) => {
    await client.refused({ user: 5 }, 'user', 'Bad Request');
    await client.chat({ user: 'ada', max_tokens: 1 });
  }),
];
