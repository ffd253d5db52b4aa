// Harmony, the format of gpt-oss, over HTTP: channels of the answer, calls, ends, and past turns in the prompt.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HARMONY_MODEL, startHarmonyServer } from '../support/harmony-server.ts';
import type { ScriptedServer } from '../support/scripted-server.ts';

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const TOOLS = [
  { type: 'function', function: { name: 'get_weather', description: 'The weather.', parameters } },
];
const QUESTION = { role: 'user', content: 'How is the weather in Rome?' };
const CALL = {
  role: 'assistant',
  content: null,
  reasoning: 'Look it up.',
  tool_calls: [
    { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city": "Rome"}' } },
  ],
};
const RESULT = { role: 'tool', tool_call_id: 'call_1', content: 'sunny' };
const ANSWER = { role: 'assistant', content: 'It is sunny in Rome.', reasoning: 'It says sunny.' };

let server: ScriptedServer;
beforeAll(async () => {
  server = await startHarmonyServer();
});
afterAll(() => server?.close());

async function post(path: string, body: object): Promise<string> {
  const reply = await fetch(server.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: HARMONY_MODEL, ...body }),
  });
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  return text;
}

async function chat(messages: readonly object[], body: object = {}) {
  const { choices, usage } = JSON.parse(await post('/v1/chat/completions', { messages, ...body }));
  const { message, finish_reason: finish } = choices[0];
  const calls = (message.tool_calls ?? []).map(
    (call: { function: { name: string; arguments: string } }) => call.function,
  );
  return { content: message.content, reasoning: message.reasoning, calls, finish, usage };
}

async function promptOf(messages: readonly object[]): Promise<string> {
  const { tokens } = JSON.parse(await post('/tokenize', { messages, tools: TOOLS }));
  const { prompt } = JSON.parse(await post('/detokenize', { tokens }));
  // What comes before the conversation says the date.
  return prompt.slice(prompt.indexOf('<|start|>user'));
}

describe('an answer', () => {
  test('has the channel of reasoning apart, and ends with <|return|>', async () => {
    const { content, reasoning, finish } = await chat([QUESTION]);
    expect({ content, reasoning, finish }).toEqual({
      content: 'It is sunny in Rome.',
      reasoning: 'It says sunny.',
      finish: 'stop',
    });
  });

  test.each([
    ['auto', undefined],
    ['required', 'required'],
    ['a function', { type: 'function', function: { name: 'get_weather' } }],
  ])('calls a function and ends with <|call|>: tool_choice %s', async (_, choice) => {
    const { content, reasoning, calls, finish } = await chat([QUESTION], {
      tools: TOOLS,
      tool_choice: choice,
    });
    expect(content ?? '').toBe('');
    expect({ reasoning, calls, finish }).toEqual({
      reasoning: 'Look it up.',
      calls: [{ name: 'get_weather', arguments: '{"city": "Rome"}' }],
      finish: 'tool_calls',
    });
  });

  test('streams the same reasoning and the same call', async () => {
    const reply = await post('/v1/chat/completions', { messages: [QUESTION], tools: TOOLS, stream: true });
    const joined = { content: '', reasoning: '', call: '', finish: null as string | null };
    for (const line of reply.split('\n\n').slice(0, -2)) {
      const [{ delta, finish_reason: finish }] = JSON.parse(line.slice('data: '.length)).choices;
      joined.content += delta.content ?? '';
      joined.reasoning += delta.reasoning ?? '';
      for (const call of delta.tool_calls ?? [])
        joined.call += (call.function.name ?? '') + call.function.arguments;
      joined.finish = finish ?? joined.finish;
    }
    expect(joined).toEqual({
      content: '',
      reasoning: 'Look it up.',
      call: 'get_weather{"city": "Rome"}',
      finish: 'tool_calls',
    });
  });

  test('is cut by max_tokens where it reasons before a call that is asked for', async () => {
    const { reasoning, calls, finish, usage } = await chat([QUESTION], {
      tools: TOOLS,
      tool_choice: 'required',
      max_tokens: 16,
    });
    expect(finish).toBe('length');
    expect(calls).toEqual([]);
    expect('Look it up.').toContain(reasoning);
    expect(usage.completion_tokens).toBe(16);
  });

  test('follows the result of a call', async () => {
    const { content, reasoning, calls, finish } = await chat([QUESTION, CALL, RESULT], { tools: TOOLS });
    expect({ content, reasoning, calls, finish }).toEqual({
      content: 'It is sunny in Rome.',
      reasoning: 'It says sunny.',
      calls: [],
      finish: 'stop',
    });
  });
});

describe('a prompt', () => {
  const asked = '<|start|>user<|message|>How is the weather in Rome?<|end|>';
  const called =
    '<|start|>assistant to=functions.get_weather<|channel|>commentary json<|message|>{"city": "Rome"}<|call|>' +
    '<|start|>functions.get_weather to=assistant<|channel|>commentary<|message|>"sunny"<|end|>';
  const thought = '<|start|>assistant<|channel|>analysis<|message|>Look it up.<|end|>';
  const open = '<|start|>assistant';

  test('keeps the reasoning of a call until there is an answer', async () => {
    expect(await promptOf([QUESTION, CALL, RESULT])).toBe(asked + thought + called + open);
  });

  test('drops all reasoning once there is an answer', async () => {
    const answered = '<|start|>assistant<|channel|>final<|message|>It is sunny in Rome.<|end|>';
    expect(await promptOf([QUESTION, CALL, RESULT, ANSWER, QUESTION])).toBe(
      asked + called + answered + asked + open,
    );
  });

  test('has text beside a call as reasoning, where the template has no other place for it', async () => {
    const both = { ...CALL, content: 'Wait.' };
    expect(await promptOf([QUESTION, both, RESULT])).toBe(
      `${asked}${thought.replace('up.', 'up.\nWait.')}${called}${open}`,
    );
  });
});
