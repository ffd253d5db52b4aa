// Tools on the wire of the real server, with a model that is scripted to call: what goes together with them, and what is
// refused before the first byte.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AGENT_MODEL, startScriptedAgentServer } from '../support/scripted-agent-server.ts';
import type { ScriptedServer } from '../support/scripted-server.ts';

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const TOOLS = [{ type: 'function', function: { name: 'get_weather', parameters } }];
const MESSAGES = [{ role: 'user', content: 'How is the weather in Rome?' }];
const RESULT = [
  ...MESSAGES,
  {
    role: 'assistant',
    content: null,
    tool_calls: [
      { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Rome"}' } },
    ],
  },
  { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
];

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedAgentServer();
});
afterAll(() => server?.close());

async function post(body: object, path = '/v1/chat/completions') {
  const reply = await fetch(server.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: AGENT_MODEL, ...body }),
  });
  const text = await reply.text();
  return { status: reply.status, type: reply.headers.get('content-type'), text };
}

async function chat(body: object) {
  const { status, text } = await post({ messages: MESSAGES, tools: TOOLS, ...body });
  expect(status).toBe(200);
  return JSON.parse(text);
}

/** Choices of the joined chunks: text, calls, log probability entries and end. */
async function streamed(body: object) {
  const { text } = await post({ messages: MESSAGES, tools: TOOLS, stream: true, ...body });
  const choices: { content: string; calls: string[]; logprobCount: number; finish: string | null }[] = [];
  for (const line of text.split('\n\n').slice(0, -2))
    for (const { index, delta, logprobs, finish_reason: finish } of JSON.parse(line.slice('data: '.length))
      .choices) {
      choices[index] ??= { content: '', calls: [], logprobCount: 0, finish: null };
      const choice = choices[index]!;
      choice.content += delta.content ?? '';
      choice.logprobCount += logprobs?.content.length ?? 0;
      choice.finish = finish ?? choice.finish;
      for (const call of delta.tool_calls ?? []) {
        choice.calls[call.index] ??= '';
        choice.calls[call.index] += (call.function.name ?? '') + call.function.arguments;
      }
    }
  return choices;
}

const CALL = 'get_weather{"city": "Rome"}';

describe('/tokenize', () => {
  test.each([
    {},
    { tool_choice: 'none' },
    { tool_choice: 'required' },
    { messages: RESULT },
    { add_generation_prompt: false },
    { add_special_tokens: true },
    { messages: RESULT, tools: null },
  ])('gives the prompt of a chat with the same fields: %j', async fields => {
    const asked = { messages: MESSAGES, tools: TOOLS, ...fields };
    const { tokens } = JSON.parse((await post(asked, '/tokenize')).text);
    const { prompt_token_ids: ofChat } = await chat({ ...asked, return_token_ids: true, max_tokens: 200 });
    expect(tokens).toEqual(ofChat);
  });
});

describe('tools', () => {
  test.each(['auto', 'required', { type: 'function', function: { name: 'get_weather' } }])(
    'are called with tool_choice %j, whole and streamed',
    async tool_choice => {
      const { choices } = await chat({ tool_choice });
      expect(choices).toMatchObject([
        {
          finish_reason: 'tool_calls',
          message: {
            content: null,
            tool_calls: [
              { type: 'function', function: { name: 'get_weather', arguments: '{"city": "Rome"}' } },
            ],
          },
        },
      ]);
      expect(await streamed({ tool_choice })).toMatchObject([
        { content: '', calls: [CALL], finish: 'tool_calls' },
      ]);
    },
  );

  test('are called by each of several choices, with log probabilities of every token', async () => {
    const { choices, usage } = await chat({ n: 2, logprobs: true, temperature: 1, seed: 1 });
    expect(choices).toHaveLength(2);
    let tokenCount = 0;
    for (const { message, logprobs } of choices) {
      expect(message.tool_calls[0].function.name).toBe('get_weather');
      tokenCount += logprobs.content.length;
    }
    expect(tokenCount).toBe(usage.completion_tokens);
    const deltas = await streamed({ n: 2, logprobs: true, temperature: 1, seed: 1 });
    expect(deltas.map(({ logprobCount }) => logprobCount)).toEqual(
      choices.map(({ logprobs }: { logprobs: { content: unknown[] } }) => logprobs.content.length),
    );
  });

  test('send no chunk for the marks of a call, and no empty text', async () => {
    const { text } = await post({ messages: MESSAGES, tools: TOOLS, stream: true });
    const deltas = text
      .split('\n\n')
      .slice(0, -2)
      .map(line => JSON.parse(line.slice('data: '.length)).choices[0].delta);
    expect(deltas[0]).toEqual({ role: 'assistant', content: '' });
    expect(deltas.at(-1)).toEqual({});
    for (const delta of deltas.slice(1, -1)) expect(Object.keys(delta)).toEqual(['tool_calls']);
  });

  test('are answered with text after their result, in the format that was asked for', async () => {
    const text = await chat({ messages: RESULT });
    expect(text.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: 'It is sunny in Rome.' },
    });
    // The script ends with a full stop, the choice with an exclamation mark.
    const structured_outputs = { choice: ['It is sunny in Rome!', 'I do not know.'] };
    const chosen = await chat({ messages: RESULT, structured_outputs });
    expect(chosen.choices[0].message.content).toBe('It is sunny in Rome!');
    const called = await chat({ response_format: { type: 'json_object' } });
    expect(called.choices[0].finish_reason).toBe('tool_calls');
  });

  test('are cut off by the limit of the length, which the answer says', async () => {
    const { choices } = await chat({ max_completion_tokens: 50 });
    expect(choices[0].finish_reason).toBe('length');
  });

  test.each([
    [
      'a schema that cannot be compiled',
      { parameters: { type: 'object', properties: { a: { pattern: '(' } } } },
    ],
    [
      'a keyword that cannot be enforced, under strict',
      {
        strict: true,
        parameters: { type: 'object', properties: { a: { type: 'array', uniqueItems: true } } },
      },
    ],
  ])('are refused for %s, before the first byte of a stream', async (_what, fields) => {
    const tools = [{ type: 'function', function: { name: 'f', ...fields } }];
    for (const stream of [false, true]) {
      const { status, text } = await post({ messages: MESSAGES, tools, stream });
      expect(status).toBe(400);
      expect(JSON.parse(text).error).toMatchObject({
        param: 'tools',
        message: expect.stringContaining('tools[0].function.parameters'),
      });
    }
  });

  test.each([
    [{ use_beam_search: true, n: 2 }, 'tools'],
    [{ tool_choice: { type: 'function', function: { name: 'other' } } }, 'tool_choice'],
    [{ tools: [...TOOLS, ...TOOLS] }, 'tools'],
    [
      { structured_outputs: { structural_tag: '{"type":"structural_tag","format":{"type":"any_text"}}' } },
      'structured_outputs',
    ],
    [{ structured_outputs: { regex: '[0-9]{2' } }, 'structured_outputs'],
    [{ structured_outputs: { grammar: 'root ::= other' } }, 'structured_outputs'],
    [
      { response_format: { json_schema: { name: 'a', schema: { type: 'number', minimum: 5, maximum: 1 } } } },
      'response_format',
    ],
  ])('are refused with %j by name', async (fields, param) => {
    const { status, text } = await post({ messages: MESSAGES, tools: TOOLS, ...fields });
    expect({ status, param: JSON.parse(text).error.param }).toEqual({ status: 400, param });
  });
});
