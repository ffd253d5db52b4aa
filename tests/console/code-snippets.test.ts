// The code that the playground shows: each program is run, and what it sends is the request of the playground.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SnippetName, toSnippet } from '../../apps/console/src/playground/code-snippets.ts';

const user = { role: 'user', content: 'Hi' };
const tools = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      description: 'Weather of a city.',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
];
const call = { id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Rome"}' } };
/** What the AI SDK takes for an answer: a call where one was required. */
function answerTo({ tool_choice: choice = 'auto' }: Readonly<Record<string, unknown>>) {
  const called = {
    message: { role: 'assistant', content: null, tool_calls: [call] },
    finish_reason: 'tool_calls',
  };
  const told = { message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' };
  const choices = [{ index: 0, ...(choice === 'auto' ? told : called) }];
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  return { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'some', choices, usage };
}
const schema = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] };
const BODIES = {
  'a bare question': { messages: [user] },
  'all parameters': {
    model: 'clerk:step1',
    messages: [user],
    temperature: 0.5,
    top_p: 0.9,
    top_k: 3,
    seed: 5,
    presence_penalty: 0.1,
    frequency_penalty: 0.2,
    max_completion_tokens: 7,
    min_tokens: 4,
    stop: ['a', 'b'],
    n: 2,
    reasoning_effort: 'low',
  },
  'a system message': {
    messages: [{ role: 'system', content: 'Be brief.' }, user, { role: 'assistant', content: 'Yes?' }, user],
  },
  tools: { messages: [user], tools, tool_choice: 'required' },
  'a named tool': {
    messages: [user],
    tools,
    tool_choice: { type: 'function', function: { name: 'get_weather' } },
  },
  'results of tools': {
    messages: [
      user,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', content: '31 degrees', tool_call_id: 'c1' },
    ],
    tools,
    tool_choice: 'auto',
  },
  'an answer in a schema': {
    messages: [user],
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } },
  },
};

describe('the code of the playground', () => {
  let sent: Record<string, unknown>;
  const server = createServer(async (request, reply) => {
    sent = JSON.parse(await text(request));
    reply.setHeader('content-type', 'application/json').end(JSON.stringify(answerTo(sent)));
  });
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(() => {
    server.close();
  });

  const run = (name: SnippetName, body: Readonly<Record<string, unknown>>) => {
    const serverUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const code = toSnippet(name, { body, serverUrl, defaultModel: 'first' });
    const env = { ...process.env, ORTLER_API_KEY: 'k' };
    // Modules of a program that is an argument are found from the working folder.
    const options = { cwd: new URL('..', import.meta.url), env };
    const condition = name === 'ortler' ? ['--conditions=@ortler/source'] : [];
    const program = ['--input-type=module', '-e', code];
    return promisify(execFile)(process.execPath, [...condition, ...program], options);
  };

  it.each(Object.entries(BODIES))('for the openai SDK sends the same request: %s', async (_, body) => {
    await run('openai', { ...body, stream: true });
    expect(sent).toEqual({ model: 'first', ...body });
  });

  it.each(Object.entries(BODIES))('for the AI SDK sends the same request: %s', async (_, body) => {
    await run('AI SDK', { ...body, stream: true });
    const { max_tokens, ...others } = sent;
    const request = max_tokens === undefined ? others : { ...others, max_completion_tokens: max_tokens };
    expect(request).toEqual({ model: 'first', ...body });
  });

  it.each(Object.entries(BODIES))(
    'for the package ortler is answered by the demo model: %s',
    async (_, body) => {
      const { stdout } = await run('ortler', { ...body, max_completion_tokens: 40, temperature: 0 });
      expect(stdout.trim()).not.toBe('');
    },
  );
});
