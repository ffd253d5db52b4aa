// Vectors 76 to 85: the form of streams.

import { expect, vi } from 'vitest';
import { CHAT_PATH, type Json, USER } from '../../support/chat-client.ts';
import { vector } from './vector.ts';

const withUsage = (options: object) => ({ stream_options: { include_usage: true, ...options } });

export const streaming = [
  vector(76, 'a stream begins with the role and ends with [DONE]', ['stream'], async ({ client }) => {
    const chunks = await client.stream({ max_tokens: 4 });
    expect(chunks[0].choices).toEqual([
      { index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null },
    ]);
    for (const { id, object, created, model } of chunks)
      expect({ id, object, created, model }).toEqual({
        id: chunks[0].id,
        object: 'chat.completion.chunk',
        created: chunks[0].created,
        model: 'ortler-demo',
      });
    expect(chunks.at(-1).choices[0].finish_reason).not.toBeNull();
    expect(chunks.at(-1).choices[0]).toHaveProperty('stop_reason');
    for (const chunk of chunks.slice(0, -1)) expect(chunk.choices[0]).not.toHaveProperty('stop_reason');
  }),
  vector(77, 'usage comes once, at the end, when it is asked for', ['stream_options'], async ({ client }) => {
    for (const fields of [
      {},
      { stream_options: null },
      { stream_options: {} },
      withUsage({ include_usage: false }),
    ])
      for (const chunk of await client.stream({ max_tokens: 2, ...fields }))
        expect(chunk).not.toHaveProperty('usage');
    const chunks = await client.stream({ max_tokens: 2, ...withUsage({}) });
    expect(chunks.filter(chunk => 'usage' in chunk)).toEqual([chunks.at(-1)]);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens_details: {} } });
    expect(chunks.at(-1)).not.toHaveProperty('prompt_token_ids');
  }),
  vector(78, 'usage may stand in every chunk', ['stream_options'], async ({ client }) => {
    const chunks = await client.stream({ max_tokens: 4, ...withUsage({ continuous_usage_stats: true }) });
    for (const { usage } of chunks)
      expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
    expect(chunks[0].usage.completion_tokens).toBe(0);
    expect(chunks.at(-2).usage.completion_tokens).toBe(chunks.at(-1).usage.completion_tokens);
    expect(chunks.at(-1).choices).toEqual([]);
  }),
  vector(79, 'stream options need a stream', ['stream_options'], async ({ client }) => {
    await client.refused(withUsage({}), 'stream_options');
    await client.chat({ stream_options: {}, max_tokens: 1 });
  }),
  vector(
    80,
    'every choice has its role chunk first and its end once',
    ['n', 'stream'],
    async ({ client }) => {
      const chunks = await client.stream({ n: 2, max_tokens: 4, seed: 1, return_token_ids: true });
      for (const { choices } of chunks) expect(choices).toHaveLength(1);
      expect(chunks.slice(0, 2).map(({ choices }) => [choices[0].index, choices[0].delta.role])).toEqual([
        [0, 'assistant'],
        [1, 'assistant'],
      ]);
      expect(chunks[1].prompt_token_ids).toBeNull();
      const ends = chunks.filter(({ choices }) => choices[0].finish_reason !== null);
      expect(ends.map(({ choices }) => choices[0].index).sort()).toEqual([0, 1]);
    },
  ),
  vector(81, 'token ids of chunks join to those of the body', ['return_token_ids'], async ({ client }) => {
    const fields = { max_tokens: 8, seed: 4, temperature: 1, return_token_ids: true };
    const body = await client.chat(fields);
    const chunks = await client.stream(fields);
    expect(chunks[0].prompt_token_ids).toEqual(body.prompt_token_ids);
    for (const chunk of chunks.slice(1)) expect(chunk).not.toHaveProperty('prompt_token_ids');
    expect(chunks[0].choices[0]).not.toHaveProperty('token_ids');
    expect(chunks.slice(1).flatMap(({ choices }) => choices[0].token_ids)).toEqual(body.choices[0].token_ids);
  }),
  vector(
    82,
    'log probabilities of chunks join to those of the body',
    ['logprobs', 'top_logprobs'],
    async ({ client }) => {
      const fields = { max_tokens: 8, seed: 4, temperature: 1, logprobs: true, top_logprobs: 2 };
      const body = await client.chat(fields);
      const chunks = await client.stream(fields);
      expect(chunks[0].choices[0].logprobs).toBeNull();
      const entries = chunks.slice(1).flatMap(({ choices }) => choices[0].logprobs.content);
      const tokens = (list: Json[]) => list.map(({ token, top_logprobs }) => [token, top_logprobs.length]);
      expect(tokens(entries)).toEqual(tokens(body.choices[0].logprobs.content));
      expect(entries).toHaveLength(body.usage.completion_tokens);
    },
  ),
  vector(84, 'a refusal of a stream is a plain 400', ['stream'], async ({ client }) => {
    for (const fields of [{ temperature: -1 }, { allowed_token_ids: [] }, { chat_template: '{{' }, { n: 0 }])
      await client.refused({ ...fields, stream: true });
  }),
  vector(85, 'nothing runs on for a client that left', ['stream'], async ({ client }) => {
    const leaving = new AbortController();
    const reply = await fetch(client.url + CHAT_PATH, {
      method: 'POST',
      headers: client.headers,
      body: JSON.stringify({ messages: USER, stream: true, ignore_eos: true, n: 4, temperature: 1 }),
      signal: leaving.signal,
    });
    await reply.body!.getReader().read();
    const running = async () => {
      const text = await (await fetch(`${client.url}/metrics`, { headers: client.headers })).text();
      return /^vllm:num_requests_running\{.*\} (\d+)/m.exec(text)?.[1];
    };
    expect(Number(await running())).toBeGreaterThan(0);
    leaving.abort();
    await vi.waitFor(async () => expect(await running()).toBe('0'), { timeout: 5_000, interval: 20 });
  }),
];
