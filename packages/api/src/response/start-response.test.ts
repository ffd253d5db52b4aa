import { EngineError } from '@ortler/engine';
import { expect, it } from 'vitest';
import { createAppRouter } from '../app-router.ts';
import {
  collect,
  createFakeEngine,
  createFakeServices,
  errorOf,
  type FakeEngineScript,
  TEST_API_KEY,
} from '../testing/index.ts';

function open(script: FakeEngineScript = {}) {
  const engine = createFakeEngine(script);
  const caller = createAppRouter(createFakeServices({ demo: engine })).createCaller({
    credentials: { kind: 'bearer', token: TEST_API_KEY },
    requestId: 'request-1',
    headers: {},
    signal: new AbortController().signal,
  });
  return { engine, caller };
}

it('answers with what its stream ends with', async () => {
  const { caller } = open();
  const whole = await caller.responses.complete({ input: 'hi', store: false });
  const events = await collect(await caller.responses.stream({ input: 'hi', store: false }));
  const last = events.at(-1)!;
  expect(whole).toMatchObject({ status: 'completed', output: [{ content: [{ text: 'Hello world!' }] }] });
  const withoutIds = (value: unknown) => JSON.stringify(value).replaceAll(/(resp|msg)_[0-9a-f]{32}/g, '$1');
  expect('response' in last && withoutIds(last.response)).toBe(withoutIds(whole));
});

it('hands the engine the chat that the request means', async () => {
  const { engine, caller } = open();
  await caller.responses.complete({
    input: 'hi',
    instructions: 'Be brief.',
    max_output_tokens: 9,
    temperature: 0.5,
    top_k: 3,
    truncation: 'auto',
    reasoning: { effort: 'none' },
    include: ['message.output_text.logprobs'],
    text: { format: { type: 'json_schema', name: 'x', schema: { type: 'object' }, strict: true } },
    tools: [{ type: 'function', name: 'weather' }],
    tool_choice: 'none',
  });
  expect(engine.requests[0]).toMatchObject({
    prompt: {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hi' },
      ],
      template: {
        tools: [{ type: 'function', function: { name: 'weather' } }],
        variables: { enable_thinking: false },
      },
    },
    sampling: { temperature: 0.5, topK: 3 },
    stop: { maxTokens: 9 },
    truncatePromptTokens: -1,
    logprobs: { topCount: 0 },
    constraint: { jsonSchema: { type: 'object' }, strict: true },
  });
});

it.each([
  [{ store: true }, 'store'],
  [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
  [{ tools: [{ type: 'function' as const, name: 'weather' }] }, 'tool_choice'],
  [{ temperature: 3 }, 'temperature'],
])('refuses %j by name', async (fields, param) => {
  const { caller } = open();
  for (const call of [caller.responses.complete, caller.responses.stream])
    expect(await errorOf(call({ input: 'hi', ...fields }))).toMatchObject({ param });
});

it('names its own field in errors of the engine', async () => {
  const refuse = new EngineError('invalid_request', 'stop.maxTokens must be at least 1; got 0.', {
    parameter: 'stop.maxTokens',
  });
  expect(
    await errorOf(open({ refuse }).caller.responses.complete({ input: 'hi', max_output_tokens: 0 })),
  ).toMatchObject({ param: 'max_output_tokens', message: 'max_output_tokens must be at least 1; got 0.' });
});

it('tells a failure by an event, and then throws it', async () => {
  const { caller } = open({ failAt: { tokenNumber: 1, error: new EngineError('engine_failed', 'secret') } });
  const types: string[] = [];
  const read = async () => {
    for await (const event of await caller.responses.stream({ input: 'hi' })) types.push(event.type);
  };
  expect(await errorOf(read())).toMatchObject({ reason: 'internal' });
  expect(types.at(-1)).toBe('response.failed');
});
