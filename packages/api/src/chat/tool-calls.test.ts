// Tool calls through the router: what the engine is asked, and what comes back, whole and in chunks.

import { EngineError } from '@ortler/engine';
import type { ChatChunk } from '@ortler/schemas';
import { describe, expect, it } from 'vitest';
import { createAppRouter } from '../app-router.ts';
import {
  collect,
  createFakeEngine,
  createFakeServices,
  errorOf,
  type FakeEngineScript,
  TEST_API_KEY,
} from '../testing/index.ts';

const CALLS = [
  { name: 'weather', pieces: ['{"city": "', 'Rome"}'] },
  { name: 'now', pieces: ['{}'] },
];
const TOOLS = [{ function: { name: 'weather' } }, { function: { name: 'now' } }];
const MESSAGES = [{ role: 'user', content: 'Weather and time in Rome?' }];
const REQUEST = { messages: MESSAGES, tools: TOOLS };
const WIRE_CALLS = [
  { id: 'call_0', type: 'function', function: { name: 'weather', arguments: '{"city": "Rome"}' } },
  { id: 'call_1', type: 'function', function: { name: 'now', arguments: '{}' } },
];

function open(script: FakeEngineScript = { pieces: [], calls: CALLS }, toolCalling = true) {
  const engine = createFakeEngine(script);
  const services = { ...createFakeServices({ demo: engine }), toolCalling };
  const caller = createAppRouter(services).createCaller({
    credentials: { kind: 'bearer', token: TEST_API_KEY },
    requestId: 'request-1',
    headers: {},
    signal: new AbortController().signal,
  });
  return { engine, caller };
}

/** The calls that the chunks of a choice join to. */
function joinCalls(chunks: readonly ChatChunk[], index = 0) {
  const calls: { id: string; type: string; function: { name: string; arguments: string } }[] = [];
  for (const { choices } of chunks)
    for (const choice of choices)
      for (const { index: place, id, type, function: call } of (choice.index === index &&
        choice.delta.tool_calls) ||
        []) {
        if (id !== undefined)
          calls[place] = { id, type: type!, function: { name: call.name!, arguments: '' } };
        calls[place]!.function.arguments += call.arguments;
      }
  return calls;
}

describe('a chat', () => {
  it('answers with calls, no text, and why it ended', async () => {
    const { caller } = open();
    const { choices } = await caller.chat.complete(REQUEST);
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { role: 'assistant', content: null, tool_calls: WIRE_CALLS },
    });
  });

  it('keeps the text before its calls', async () => {
    const { caller } = open({ pieces: ['I ', 'look.'], calls: CALLS });
    const { choices } = await caller.chat.complete(REQUEST);
    expect(choices[0]?.message).toMatchObject({ content: 'I look.', tool_calls: WIRE_CALLS });
  });

  it('streams id, type and name of a call first, then pieces of its arguments', async () => {
    const { caller } = open();
    const chunks = await collect(await caller.chat.stream(REQUEST));
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta.tool_calls ?? []));
    expect(deltas.filter(({ length }) => length > 0).slice(0, 3)).toEqual([
      [{ index: 0, id: 'call_0', type: 'function', function: { name: 'weather', arguments: '' } }],
      [{ index: 0, function: { arguments: '{"city": "' } }],
      [{ index: 0, function: { arguments: 'Rome"}' } }],
    ]);
    expect(joinCalls(chunks)).toEqual(WIRE_CALLS);
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('tool_calls');
  });

  it('gives every one of several choices its own calls', async () => {
    const { caller } = open();
    const { choices, usage } = await caller.chat.complete({ ...REQUEST, n: 2 });
    for (const { message } of choices) expect(message.tool_calls).toEqual(WIRE_CALLS);
    expect(usage.completion_tokens).toBe(10);
    const chunks = await collect(await caller.chat.stream({ ...REQUEST, n: 2 }));
    for (const index of [0, 1]) expect(joinCalls(chunks, index)).toEqual(WIRE_CALLS);
  });

  it('hands the tools to the engine alone, which shows them to the template itself', async () => {
    const { engine, caller } = open();
    await caller.chat.complete({ ...REQUEST, tool_choice: 'required', parallel_tool_calls: false });
    expect(engine.requests[0]).toMatchObject({
      tools: { definitions: [{ name: 'weather' }, { name: 'now' }], choice: 'required', parallel: false },
    });
    expect(engine.requests[0]?.prompt).not.toHaveProperty('template.tools');
  });

  it('takes options of JSON without a constraint, for the arguments of calls', async () => {
    const { engine, caller } = open();
    const structured_outputs = { disable_number_limits: true, json_whitespace: 'none' as const };
    await caller.chat.complete({ ...REQUEST, structured_outputs });
    expect(engine.requests[0]).toMatchObject({
      tools: { style: { limitNumbers: false, whitespace: 'none' } },
    });
    expect(engine.requests[0]).not.toHaveProperty('constraint');
    for (const fields of [{ messages: MESSAGES }, { ...REQUEST, tool_choice: 'none' as const }])
      expect(await errorOf(caller.chat.complete({ ...fields, structured_outputs }))).toMatchObject({
        reason: 'malformed_request',
        param: 'structured_outputs',
        message: expect.stringContaining('exactly one of json, regex'),
      });
  });

  it('describes tools to the template alone under none, without strict', async () => {
    const { engine, caller } = open({ calls: CALLS });
    const tools = [{ function: { name: 'weather', strict: true } }];
    const { choices } = await caller.chat.complete({ messages: MESSAGES, tools, tool_choice: 'none' });
    expect(choices[0]?.message.tool_calls).toEqual([]);
    expect(engine.requests[0]).not.toHaveProperty('tools');
    expect(engine.requests[0]?.prompt).toMatchObject({
      template: {
        tools: [{ type: 'function', function: { name: 'weather', description: null, parameters: null } }],
      },
    });
  });

  it('takes calls and their results back', async () => {
    const { engine, caller } = open();
    await caller.chat.complete({
      ...REQUEST,
      messages: [
        ...MESSAGES,
        {
          role: 'assistant',
          content: null,
          tool_calls: WIRE_CALLS.map(call => ({ ...call, type: 'function' as const })),
        },
        { role: 'tool', tool_call_id: 'call_0', content: '18 degrees' },
      ],
    });
    expect(engine.requests[0]?.prompt).toMatchObject({
      messages: [
        { role: 'user' },
        {
          role: 'assistant',
          tool_calls: [{ id: 'call_0', function: { name: 'weather', arguments: { city: 'Rome' } } }, {}],
        },
        { role: 'tool', tool_call_id: 'call_0', content: '18 degrees' },
      ],
    });
  });

  it('names the place of a fault that the engine finds', async () => {
    const refuse = new EngineError(
      'invalid_request',
      'tools.definitions[1].parameters.type must be "object".',
      {
        parameter: 'tools.definitions[1].parameters',
      },
    );
    const { caller } = open({ refuse });
    for (const call of [caller.chat.complete, caller.chat.stream])
      expect(await errorOf(call(REQUEST))).toMatchObject({
        param: 'tools',
        message: 'tools[1].function.parameters.type must be "object".',
      });
  });
});

describe('a response', () => {
  const ITEMS = { input: 'Weather?', tools: [{ type: 'function' as const, name: 'weather' }] };

  it('has each call as an item, with the same ids in its events', async () => {
    const { caller } = open({ pieces: ['I look.'], calls: CALLS });
    const events = await collect(await caller.responses.stream(ITEMS));
    const last = events.at(-1)!;
    expect(last).toMatchObject({
      type: 'response.completed',
      response: {
        status: 'completed',
        output: [
          { type: 'message', content: [{ text: 'I look.' }] },
          { type: 'function_call', call_id: 'call_0', name: 'weather', arguments: '{"city": "Rome"}' },
          { type: 'function_call', call_id: 'call_1', name: 'now', arguments: '{}', status: 'completed' },
        ],
      },
    });
    const ofCalls = events.filter(event => 'output_index' in event && event.output_index === 1);
    expect(ofCalls.map(({ type }) => type)).toEqual([
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
    ]);
  });

  it('means auto by tools alone, and names its own fields in faults', async () => {
    const { engine, caller } = open();
    await caller.responses.complete({ ...ITEMS, tool_choice: { type: 'function', name: 'weather' } });
    await caller.responses.complete(ITEMS);
    expect(engine.requests.map(({ tools }) => tools?.choice)).toEqual([{ name: 'weather' }, 'auto']);
    const refuse = new EngineError('invalid_request', 'tools.definitions[0].name is used twice: "weather".', {
      parameter: 'tools.definitions[0].name',
    });
    expect(await errorOf(open({ refuse }).caller.responses.complete(ITEMS))).toMatchObject({
      param: 'tools',
      message: 'tools[0].name is used twice: "weather".',
    });
  });
});

it('without tool calling, nothing reaches the engine but variables of the template', async () => {
  const { engine, caller } = open({}, false);
  await caller.chat.complete(REQUEST);
  expect(engine.requests[0]).not.toHaveProperty('tools');
  expect(await errorOf(caller.chat.complete({ ...REQUEST, tool_choice: 'auto' }))).toMatchObject({
    reason: 'malformed_request',
    param: 'tool_choice',
  });
});
