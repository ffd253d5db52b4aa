// Vectors 60 to 69, and fields of the prompt that the list does not have: templates, messages, thinking.

import { expect } from 'vitest';
import { type ChatClient, type Json, USER } from '../../support/chat-client.ts';
import { vector } from './vector.ts';

const OPEN = { continue_final_message: true, add_generation_prompt: false };

async function promptOf(client: ChatClient, fields: object): Promise<number[]> {
  return (await client.chat({ max_tokens: 1, return_token_ids: true, ...fields })).prompt_token_ids;
}

export const prompts = [
  vector(
    60,
    'an open last message excludes a generation prompt, and names the role',
    ['continue_final_message', 'add_generation_prompt'],
    async ({ client }) => {
      const param = 'continue_final_message';
      await client.refused({ continue_final_message: true, add_generation_prompt: true }, param);
      await client.refused({ continue_final_message: true }, param);
      for (const role of ['user', 'assistant']) {
        const messages = [...USER, { role, content: 'Par' }];
        const body = await client.chat({ messages, ...OPEN, max_tokens: 1 });
        expect(body.choices[0].message.role).toBe(role);
        const closed = await client.chat({ messages, add_generation_prompt: false, max_tokens: 1 });
        expect(closed.usage.prompt_tokens).toBeGreaterThan(body.usage.prompt_tokens);
      }
      const [prefix, whole] = [
        await promptOf(client, {}),
        await promptOf(client, {
          messages: [...USER, { role: 'assistant', content: 'Par' }],
          ...OPEN,
        }),
      ];
      expect(whole.slice(0, prefix.length)).toEqual(prefix);
    },
  ),
  vector(
    61,
    'an echo repeats the continued message',
    ['echo', 'continue_final_message'],
    async ({ client, x, xText }) => {
      const messages = [...USER, { role: 'assistant', content: 'AB' }];
      const fields = { messages, ...OPEN, echo: true, allowed_token_ids: [x], max_tokens: 1 };
      const body = await client.chat(fields);
      expect(body.choices[0].message.content).toBe(`AB${xText}`);
      expect(body.usage.completion_tokens).toBe(1);
      expect(body.prompt_logprobs).toHaveLength(body.usage.prompt_tokens);
      const chunks = await client.stream(fields);
      expect(chunks.map(chunk => chunk.choices[0].delta.content)).toEqual(['', 'AB', xText]);
    },
  ),
  vector(62, 'an echo needs messages of one role', ['echo'], async ({ client, x, xText }) => {
    const { choices } = await client.chat({ echo: true, allowed_token_ids: [x], max_tokens: 1 });
    expect(choices[0].message.content).toBe(xText);
  }),
  vector(63, 'text parts are lines', ['messages'], async ({ client }) => {
    const parts = ['a', 'b'].map(text => ({ type: 'text', text }));
    const whole = await promptOf(client, { messages: [{ role: 'user', content: 'a\nb' }] });
    for (const content of [parts, ['a', 'b'], ['a', { type: 'input_text', text: 'b' }]])
      expect(await promptOf(client, { messages: [{ role: 'user', content }] })).toEqual(whole);
  }),
  vector(64, 'messages have a role, and mostly content', ['messages'], async ({ client }) => {
    await client.refused({ messages: [{ role: 'user', content: null }] }, undefined, 'Bad Request');
    await client.chat({ messages: [{ role: 'assistant', content: null }, ...USER], max_tokens: 1 });
    await client.refused({ messages: [{ content: 'x' }] }, undefined, 'Bad Request');
    const { status } = await client.post('/v1/chat/completions', {
      messages: [{ role: 'wizard', content: 'x' }],
      max_tokens: 1,
    });
    expect([200, 400]).toContain(status);
  }),
  vector(65, 'a text model reads text', ['messages'], async ({ client }) => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    await client.refused({ messages: [{ role: 'user', content: [image] }] }, 'messages');
    await client.refused({ messages: [{ role: 'user', content: [{ type: 'foo' }] }] });
  }),
  vector(66, 'a request may bring its template', ['chat_template'], async ({ client }) => {
    const text = 'Hello there';
    const messages = [{ role: 'user', content: text }];
    const ids = await promptOf(client, { messages, chat_template: '{{ messages[0].content }}' });
    expect(ids).toEqual(
      (await client.post('/tokenize', { prompt: text, add_special_tokens: false })).body.tokens,
    );
    for (const chat_template of ['{{ broken', '{{ raise_exception("no") }}', '{% for %}'])
      await client.refused({ chat_template }, 'chat_template');
  }),
  vector(
    67,
    'a template ignores variables it does not know',
    ['chat_template_kwargs'],
    async ({ client }) => {
      const plain = await promptOf(client, {});
      expect(await promptOf(client, { chat_template_kwargs: { unused: 1 } })).toEqual(plain);
      expect(await promptOf(client, { chat_template_kwargs: { add_generation_prompt: false } })).toEqual(
        plain,
      );
      expect(await promptOf(client, { chat_template_kwargs: { enable_thinking: true } })).not.toEqual(plain);
      for (const key of ['tokenize', 'chat_template', 'messages'])
        await client.refused({ chat_template_kwargs: { [key]: true } });
    },
  ),
  vector(68, 'tool calls of earlier turns may be broken', ['messages'], async ({ client }) => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: 'not json' } };
    const messages = [
      ...USER,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: '18' },
    ];
    await client.chat({ messages, max_tokens: 1 });
  }),
  vector(
    69,
    'tools are told about, never called',
    ['tools', 'tool_choice', 'reasoning_effort'],
    async ({ client }) => {
      const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }];
      const plain = await promptOf(client, {});
      const body = await client.chat({ tools, tool_choice: 'none', max_tokens: 1 });
      expect(body.choices[0].message.tool_calls).toEqual([]);
      expect(body.usage.prompt_tokens).toBeGreaterThan(plain.length);
      expect((await client.chat({ tools, max_tokens: 1 })).usage.prompt_tokens).toBe(
        body.usage.prompt_tokens,
      );
      await client.refused({ tools, tool_choice: 'auto' }, 'tool_choice');
      await client.refused({ tools: [] }, 'tools');
      await client.refused({ reasoning_effort: 'max' }, 'reasoning_effort');
    },
  ),
  vector('documents', 'documents reach the template', ['documents'], async ({ client }) => {
    const plain = await promptOf(client, {});
    const documents = [{ title: 'Rivers', text: 'The Seine flows through Paris.', page: 3 }];
    expect((await promptOf(client, { documents })).length).toBeGreaterThan(plain.length);
    expect(await promptOf(client, { documents: null })).toEqual(plain);
    await client.refused({ documents: ['text'] });
  }),
  vector('developer', 'a developer speaks for the system', ['messages'], async ({ client }) => {
    const of = (role: string) => promptOf(client, { messages: [{ role, content: 'Be brief.' }, ...USER] });
    expect(await of('developer')).toEqual(await of('system'));
  }),
  vector(
    'special tokens',
    'the tokenizer adds its own only where it has any, and shown ones have no spaces between them',
    ['add_special_tokens', 'skip_special_tokens', 'spaces_between_special_tokens'],
    async ({ client, eos }) => {
      const { body } = await client.post('/tokenize', { prompt: 'x', add_special_tokens: true });
      const { body: bare } = await client.post('/tokenize', { prompt: 'x', add_special_tokens: false });
      const plain = await promptOf(client, {});
      const more = await promptOf(client, { add_special_tokens: true });
      expect(more.length - plain.length).toBe(body.count - bare.count);
      const shown = async (fields: object) =>
        (await client.chat({ allowed_token_ids: [eos], ignore_eos: true, max_tokens: 2, ...fields }))
          .choices[0].message.content;
      expect(await shown({})).toBe('');
      const twice = await shown({ skip_special_tokens: false });
      expect(twice).toMatch(/^(\S+)\1$/);
      expect(await shown({ skip_special_tokens: false, spaces_between_special_tokens: false })).toBe(twice);
    },
  ),
  vector(
    'thinking',
    'what is thought stands beside the answer, or is left out',
    ['include_reasoning', 'reasoning_effort'],
    async ({ client, x, xText }) => {
      const fields = { reasoning_effort: 'low', allowed_token_ids: [x], max_tokens: 3, logprobs: true };
      const message = async (more: object) => (await client.chat({ ...fields, ...more })).choices[0];
      expect(await message({})).toMatchObject({
        message: { reasoning: xText.repeat(3), content: null },
        logprobs: { content: [{}, {}, {}] },
      });
      expect(await message({ include_reasoning: false })).toMatchObject({
        message: { reasoning: null, content: null },
        logprobs: null,
      });
      expect(await message({ reasoning_effort: null })).toMatchObject({
        message: { reasoning: null, content: xText.repeat(3) },
      });
      const deltas = (await client.stream(fields)).map((chunk: Json) => chunk.choices[0].delta);
      expect(deltas.map(({ reasoning }) => reasoning ?? '').join('')).toBe(xText.repeat(3));
      expect(deltas.map(({ content }) => content ?? '').join('')).toBe('');
      const messages = [...USER, { role: 'assistant', content: '<think>\nso</think>\n\nA' }];
      expect(await message({ messages, ...OPEN, reasoning_effort: null })).toMatchObject({
        message: { reasoning: null, content: xText.repeat(3) },
      });
      const thinking = [...USER, { role: 'assistant', content: '<think>\nso' }];
      expect(await message({ messages: thinking, ...OPEN, reasoning_effort: null })).toMatchObject({
        message: { reasoning: xText.repeat(3), content: null },
      });
    },
  ),
];
