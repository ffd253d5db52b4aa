// Vectors 86 to 95: transport errors, refused settings, beam search; and fields that have no effect.

import { expect } from 'vitest';
import { CHAT_PATH, USER } from '../../support/chat-client.ts';
import { vector } from './vector.ts';

const BEAMS = { use_beam_search: true, n: 2, max_tokens: 3, temperature: 0 };

export const errors = [
  vector(86, 'a bearer key is needed, whatever the case of the scheme', [], async ({ client }) => {
    const { authorization } = client.headers as { authorization: string };
    const body = { messages: USER, max_tokens: 1 };
    for (const wrong of ['', 'Basic x', 'Bearer wrong', authorization.slice('Bearer '.length)]) {
      const reply = await client.post(CHAT_PATH, body, { authorization: wrong });
      expect([reply.status, reply.body.error.code]).toEqual([401, 401]);
    }
    const lower = authorization.replace('Bearer', 'bearer');
    expect((await client.post(CHAT_PATH, body, { authorization: lower })).status).toBe(200);
  }),
  vector(87, 'a body is JSON by its type', [], async ({ client }) => {
    const { status } = await client.post(CHAT_PATH, { messages: USER }, { 'content-type': 'text/plain' });
    expect(status).toBe(400);
  }),
  vector(88, 'a body is JSON by its text', [], async ({ client }) => {
    for (const text of ['{', '', '[]', 'null']) {
      const { status, body } = await client.post(CHAT_PATH, text);
      expect([status, body.error.type]).toEqual([400, 'Bad Request']);
    }
  }),
  vector(89, 'the path takes POST only', [], async ({ client }) => {
    const reply = await fetch(client.url + CHAT_PATH, { headers: client.headers });
    expect(reply.status).toBe(405);
  }),
  vector(90, 'messages are needed', ['messages'], async ({ client }) => {
    const { status, body } = await client.post(CHAT_PATH, {});
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('messages')]);
    await client.refused({ messages: [] });
  }),
  vector(91, 'nobody comes first on a server without priorities', ['priority'], async ({ client }) => {
    await client.refused({ priority: 1 }, 'priority');
    await client.refused({ priority: -1 }, 'priority');
    await client.chat({ priority: 0, max_tokens: 1 });
  }),
  vector(92, 'a salt is a text that keeps cached prompts apart', ['cache_salt'], async ({ client }) => {
    await client.refused({ cache_salt: '' }, 'cache_salt');
    await client.refused({ cache_salt: 5 }, 'cache_salt');
    const cached = async (cache_salt: string) =>
      (await client.chat({ cache_salt, max_tokens: 1 })).usage.prompt_tokens_details.cached_tokens;
    const salt = `salt of this run ${process.pid} ${Date.now()}`;
    expect(await cached(salt)).toBe(0);
    expect(await cached(`${salt}, another`)).toBe(0);
    const first = await client.chat({ cache_salt: salt, max_tokens: 1 });
    expect(first.usage.prompt_tokens_details.cached_tokens).toBeGreaterThan(0);
  }),
  vector(93, 'extra arguments are flat', ['engine_xargs', 'vllm_xargs'], async ({ client }) => {
    for (const name of ['engine_xargs', 'vllm_xargs']) {
      await client.refused({ [name]: { a: { b: 1 } } });
      await client.chat({ [name]: { a: [1, 'x'], b: true, c: 'y' }, max_tokens: 1 });
    }
  }),
  vector(
    94,
    'a search gives its best answers in order',
    ['use_beam_search', 'n', 'length_penalty'],
    async ({ client }) => {
      const { choices } = await client.chat({ ...BEAMS, logprobs: true, return_token_ids: true });
      expect(choices).toHaveLength(2);
      expect(choices[0].token_ids).not.toEqual(choices[1].token_ids);
      const sums = choices.map(({ logprobs }: { logprobs: { content: { logprob: number }[] } }) =>
        logprobs.content.reduce((sum, { logprob }) => sum + logprob, 0),
      );
      // An answer that ended early has its end token in the sum of its score, but not in its list.
      if (choices.every(({ finish_reason }: { finish_reason: string }) => finish_reason === 'length'))
        expect(sums[0]).toBeGreaterThanOrEqual(sums[1]);
      await client.refused({ ...BEAMS, n: 11 }, 'n');
      const plain = choices.map(({ token_ids }: { token_ids: number[] }) => token_ids);
      const ignoring = await client.chat({
        ...BEAMS,
        return_token_ids: true,
        seed: 5,
        top_k: 1,
        presence_penalty: 2,
      });
      expect(ignoring.choices.map(({ token_ids }: { token_ids: number[] }) => token_ids)).toEqual(plain);
      const penalised = await client.chat({ ...BEAMS, length_penalty: 0 });
      expect(penalised.choices).toHaveLength(2);
    },
  ),
  vector(
    95,
    'a streamed search has one chunk per answer',
    ['use_beam_search', 'stream'],
    async ({ client }) => {
      const body = await client.chat(BEAMS);
      const chunks = await client.stream(BEAMS);
      expect(chunks).toHaveLength(4);
      for (const [index, { message, finish_reason }] of body.choices.entries()) {
        expect(chunks[index].choices[0]).toMatchObject({ index, delta: { role: 'assistant' } });
        const answer = chunks.slice(2).find(({ choices }) => choices[0].index === index).choices[0];
        // An answer that ends while the model thinks has no content, and a delta has only what is there.
        const { content, reasoning } = message;
        const delta = { ...(content !== null && { content }), ...(reasoning !== null && { reasoning }) };
        expect(answer).toMatchObject({ delta, finish_reason });
      }
    },
  ),
  vector('headers', 'headers that attribute usage may hold anything', [], async ({ client }) => {
    const plain = await client.chat({ seed: 9, max_tokens: 6 });
    for (const name of ['Vendor-Project', 'OpenAI-Project', 'OpenAI-Organization'])
      for (const value of ['team/project', 'no such team', '/'])
        expect((await client.chat({ seed: 9, max_tokens: 6 }, { [name]: value })).choices).toEqual(
          plain.choices,
        );
  }),
  vector(
    'removed fields',
    'constraints of older clients are refused with the field to use',
    ['guided_json', 'guided_regex', 'guided_choice', 'guided_grammar'],
    async ({ client }) => {
      for (const kind of ['json', 'regex', 'choice', 'grammar']) {
        const { message } = await client.refused({ [`guided_${kind}`]: 'a' }, `guided_${kind}`);
        expect(message).toContain(`use structured_outputs.${kind}`);
        await client.chat({ [`guided_${kind}`]: null, max_tokens: 1 });
      }
    },
  ),
  vector(
    'removed fields of tools',
    'functions of older clients are refused with the field to use',
    ['functions', 'function_call'],
    async ({ client }) => {
      const functions = [{ name: 'f', parameters: { type: 'object' } }];
      for (const [field, value, replacement] of [
        ['functions', functions, 'tools'],
        ['function_call', 'auto', 'tool_choice'],
      ] as const) {
        const { message } = await client.refused({ [field]: value }, field);
        expect(message).toContain(`use ${replacement}`);
        await client.chat({ [field]: null, max_tokens: 1 });
      }
    },
  ),
  vector(
    'no effect',
    'fields without effect change nothing',
    ['parallel_tool_calls', 'user', 'mm_processor_kwargs', 'kv_transfer_params', 'engine_xargs'],
    async ({ client }) => {
      const fields = { seed: 9, max_tokens: 6, return_token_ids: true };
      const plain = await client.chat(fields);
      for (const more of [
        { parallel_tool_calls: false },
        { user: 'ada' },
        { mm_processor_kwargs: { a: { b: 1 } } },
        { kv_transfer_params: { do_remote_prefill: true } },
        { engine_xargs: { a: 1 } },
      ]) {
        const body = await client.chat({ ...fields, ...more });
        expect(body.choices).toEqual(plain.choices);
        expect(body.prompt_token_ids).toEqual(plain.prompt_token_ids);
        expect(body.kv_transfer_params).toBeNull();
      }
    },
  ),
];
