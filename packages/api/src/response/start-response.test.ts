import { type EncodePromptOptions, EngineError } from '@ortler/engine';
import { describe, expect, it } from 'vitest';
import { createAppRouter } from '../app-router.ts';
import type { Services } from '../ports/services.ts';
import {
  collect,
  createFakeEngine,
  createFakeServices,
  errorOf,
  type FakeEngine,
  type FakeEngineScript,
  TEST_API_KEY,
  teamApiKey,
} from '../testing/index.ts';

function open(script: FakeEngineScript = {}, changes: Partial<Services> = {}) {
  const engine = createFakeEngine(script);
  const services = { ...createFakeServices({ demo: engine }), ...changes };
  const callerOf = (token: string) =>
    createAppRouter(services).createCaller({
      credentials: { kind: 'bearer', token },
      requestId: 'request-1',
      headers: {},
      signal: new AbortController().signal,
    });
  return { engine, caller: callerOf(TEST_API_KEY), callerOf };
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

it('takes seeds of 64 bits', async () => {
  const { engine, caller } = open();
  const seed = -(2n ** 63n);
  await caller.responses.complete({ input: 'hi', seed });
  expect(engine.requests[0]).toMatchObject({ sampling: { seed } });
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
  [{ logit_bias: { 5: 2 } }, { sampling: { logitBias: [{ tokenId: 5, bias: 2 }] } }],
  [{ allowed_token_ids: [5] }, { sampling: { allowedTokenIds: [5] } }],
  [{ allowed_token_ids: [] }, { sampling: { allowedTokenIds: [] } }],
  [{ bad_words: ['no'] }, { badWords: ['no'] }],
  [{ stop_token_ids: [5] }, { stop: { tokenIds: [5] } }],
  [{ include_stop_str_in_output: true }, { stop: { includeInOutput: true } }],
  [{ skip_special_tokens: false }, { skipSpecialTokens: false }],
  [{ structured_outputs: { regex: 'a' } }, { constraint: { regex: 'a' } }],
  [
    { repetition_detection: { max_pattern_size: 2, min_count: 2 } },
    { repetitionDetection: { minPatternSize: 0, maxPatternSize: 2, minCount: 2 } },
  ],
])('takes %j as a chat does', async (fields, asked) => {
  const { engine, caller } = open();
  await caller.responses.complete({ input: 'hi', ...fields });
  expect(engine.requests[0]).toMatchObject(asked);
});

it.each([
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

it('names its own field where an error is about another one', async () => {
  const refuse = new EngineError(
    'invalid_request',
    'stop.minTokens must be at most stop.maxTokens (3); got 9.',
    {
      parameter: 'stop.minTokens',
    },
  );
  const asked = { input: 'hi', min_tokens: 9, max_output_tokens: 3 };
  expect(await errorOf(open({ refuse }).caller.responses.complete(asked))).toMatchObject({
    param: 'min_tokens',
    message: 'min_tokens must be at most max_output_tokens (3); got 9.',
  });
});

it('leaves what the caller wrote in errors as it is', async () => {
  const refuse = new EngineError(
    'invalid_request',
    'tools.definitions[1].name is used twice: "max_tokens".',
    {
      parameter: 'tools.definitions[1].name',
    },
  );
  expect(await errorOf(open({ refuse }).caller.responses.complete({ input: 'hi' }))).toMatchObject({
    message: 'tools[1].name is used twice: "max_tokens".',
  });
});

it('reports a failure by an event, and then throws it', async () => {
  const { caller } = open({ failAt: { tokenNumber: 1, error: new EngineError('engine_failed', 'secret') } });
  const types: string[] = [];
  const read = async () => {
    for await (const event of await caller.responses.stream({ input: 'hi' })) types.push(event.type);
  };
  expect(await errorOf(read())).toMatchObject({ reason: 'internal' });
  expect(types.at(-1)).toBe('response.failed');
});

const messagesOf = (engine: FakeEngine) => {
  const { prompt } = engine.requests.at(-1)!;
  return typeof prompt === 'object' && prompt.messages?.map(({ role, content }) => [role, content]);
};

it('counts what truncation leaves of a prompt', async () => {
  const { engine, caller } = open();
  const { contextLength } = engine.info;
  const asked = { input: 'x'.repeat(contextLength) };
  const countOf = async (fields: object) =>
    (await caller.responses.countInputTokens({ ...asked, ...fields })).input_tokens;
  expect(await countOf({})).toBeGreaterThan(contextLength);
  expect(await countOf({ truncation: 'auto' })).toBe(contextLength - 1);
  expect(await countOf({ truncation: 'auto', max_output_tokens: 6 })).toBe(contextLength - 6);
  expect(await countOf({ truncation: 'auto', input: 'hi' })).toBe(await countOf({ input: 'hi' }));
});

it('counts prompt tokens in the turn of its caller, and no longer than that waits', async () => {
  const places: EncodePromptOptions[] = [];
  const engine = createFakeEngine();
  const encodePrompt: typeof engine.encodePrompt = (prompt, options) => {
    places.push(options!);
    return engine.encodePrompt(prompt);
  };
  const services = createFakeServices({ demo: { ...engine, encodePrompt } });
  const { signal } = new AbortController();
  const credentials = { kind: 'bearer', token: teamApiKey('acme') } as const;
  const context = { credentials, requestId: 'request-1', headers: {}, signal };
  await createAppRouter(services).createCaller(context).responses.countInputTokens({ input: 'hi' });
  expect(places).toEqual([{ signal, share: 'team acme' }]);
});

it('counts the prompt tokens that a response would compute', async () => {
  const { engine, caller } = open();
  const asked = { input: 'hi', instructions: 'Be brief.' };
  const { input_tokens: count } = await caller.responses.countInputTokens(asked);
  expect(engine.requests).toHaveLength(0);
  await caller.responses.complete(asked);
  const { prompt } = engine.requests[0]!;
  expect(count).toBe((await engine.encodePrompt(prompt)).length);
  expect(
    await errorOf(caller.responses.countInputTokens({ ...asked, previous_response_id: 'x' })),
  ).toMatchObject({
    param: 'previous_response_id',
  });
});

describe('a stored response', () => {
  it('is continued by its id, without its instructions', async () => {
    const { engine, caller } = open({ pieces: ['Hello.'] });
    const first = await caller.responses.complete({ input: 'a', instructions: 'Be brief.' });
    const second = await caller.responses.complete({ input: 'b', previous_response_id: first.id });
    await caller.responses.complete({
      input: 'c',
      previous_response_id: second.id,
      instructions: 'Be long.',
    });
    expect(first.store).toBe(true);
    expect(messagesOf(engine)).toEqual([
      ['system', 'Be long.'],
      ['user', 'a'],
      ['assistant', 'Hello.'],
      ['user', 'b'],
      ['assistant', 'Hello.'],
      ['user', 'c'],
    ]);
  });

  it('is kept before the last event of its stream, and gives its items by their ids', async () => {
    const { engine, caller } = open({ pieces: ['Hello.'] });
    for await (const event of await caller.responses.stream({ input: 'a' })) {
      if (event.type !== 'response.completed') continue;
      const item = { type: 'item_reference' as const, id: event.response.output[0]!.id };
      await caller.responses.complete({ input: [{ role: 'user', content: 'a' }, item] });
    }
    expect(messagesOf(engine)).toEqual([
      ['user', 'a'],
      ['assistant', 'Hello.'],
    ]);
  });

  it('can be read and deleted, by its owner alone', async () => {
    const { callerOf } = open();
    const owner = callerOf(teamApiKey('acme')).responses;
    const stored = await owner.complete({ input: 'a' });
    const asked = { response_id: stored.id };
    expect(await owner.retrieve(asked)).toEqual(stored);
    const other = callerOf(teamApiKey('else')).responses;
    for (const call of [other.retrieve(asked), other.delete(asked)])
      expect(await errorOf(call)).toMatchObject({ reason: 'not_found' });
    expect(await owner.delete(asked)).toEqual({ id: stored.id, object: 'response', deleted: true });
    expect(await errorOf(owner.retrieve(asked))).toMatchObject({ reason: 'not_found' });
  });

  it.each([
    [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
    [{ input: [{ type: 'item_reference' as const, id: 'msg_1_0' }] }, 'input.0'],
    [{ input: [{ type: 'item_reference' as const, id: 'x' }] }, 'input.0'],
  ])('is missed by name: %j', async (fields, param) => {
    const { caller } = open();
    expect(await errorOf(caller.responses.complete({ input: 'hi', ...fields }))).toMatchObject({
      reason: 'not_found',
      param,
    });
  });

  it('lists the items that it answered, in pages, with ids that can be referred to', async () => {
    const { engine, caller } = open({ pieces: ['Hello.'] });
    const first = await caller.responses.complete({ input: 'a' });
    const second = await caller.responses.complete({
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'b' }] },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: 'x' },
      ],
      previous_response_id: first.id,
    });
    const asked = { response_id: second.id };
    const { data, has_more } = await caller.responses.inputItems({ ...asked, order: 'asc' });
    expect(has_more).toBe(false);
    expect(data).toMatchObject([
      { type: 'message', role: 'user', status: 'completed', content: [{ type: 'input_text', text: 'a' }] },
      {
        type: 'message',
        role: 'assistant',
        id: first.output[0]!.id,
        content: [{ type: 'output_text', text: 'Hello.' }],
      },
      { type: 'message', content: [{ text: 'b' }] },
      { type: 'function_call', call_id: 'c' },
      { type: 'function_call_output', output: 'x' },
    ]);
    expect(new Set(data.map(({ id }) => id)).size).toBe(5);
    const paged = [];
    for (let after: string | undefined; ; ) {
      const page = await caller.responses.inputItems({ ...asked, limit: 2, ...(after && { after }) });
      expect([page.first_id, page.last_id]).toEqual([page.data[0]!.id, page.data.at(-1)!.id]);
      paged.push(...page.data);
      if (!page.has_more) break;
      after = page.last_id!;
    }
    expect(paged).toEqual(data.toReversed());
    const reference = { type: 'item_reference' as const, id: data[0]!.id };
    await caller.responses.complete({ input: [reference] });
    expect(messagesOf(engine)).toEqual([['user', 'a']]);
    expect(await errorOf(caller.responses.inputItems({ ...asked, after: 'x' }))).toMatchObject({
      reason: 'invalid_parameter',
      param: 'after',
    });
    expect(await errorOf(caller.responses.inputItems({ response_id: 'resp_0' }))).toMatchObject({
      reason: 'not_found',
    });
  });

  it('is complete, so it cannot be cancelled, and its events are not sent again', async () => {
    const { caller } = open();
    const { id: response_id } = await caller.responses.complete({ input: 'a' });
    expect(await errorOf(caller.responses.cancel({ response_id }))).toMatchObject({
      reason: 'invalid_parameter',
      message: expect.stringContaining('background'),
    });
    expect(await errorOf(caller.responses.cancel({ response_id: 'resp_0' }))).toMatchObject({
      reason: 'not_found',
    });
    await expect(caller.responses.retrieve({ response_id, stream: 'true' })).rejects.toThrow(
      'not streamed again',
    );
    expect(await caller.responses.retrieve({ response_id, stream: 'false' })).toMatchObject({
      id: response_id,
    });
  });

  it('is none with store: false', async () => {
    const { caller } = open();
    const answer = await caller.responses.complete({ input: 'a', store: false });
    expect(answer.store).toBe(false);
    expect(await errorOf(caller.responses.retrieve({ response_id: answer.id }))).toMatchObject({
      reason: 'not_found',
    });
  });

  it('is none where the server stores nothing, which refuses what needs it', async () => {
    const { caller } = open({}, { responses: null });
    expect((await caller.responses.complete({ input: 'a' })).store).toBe(false);
    for (const [fields, param] of [
      [{ store: true }, 'store'],
      [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
    ] as const)
      expect(await errorOf(caller.responses.complete({ input: 'a', ...fields }))).toMatchObject({
        reason: 'unsupported_parameter',
        param,
      });
  });
});
