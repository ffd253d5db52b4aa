import { EngineError } from '@ortler/engine';
import { type ChatChunk, type ChatCompletion, chatChunk, chatCompletion } from '@ortler/schemas';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAppRouter } from './app-router.ts';
import {
  collect,
  createFakeEngine,
  createFakeServices,
  errorOf,
  type FakeServices,
  TEST_API_KEY,
} from './testing/index.ts';
import type { ApiContext } from './trpc/trpc.ts';

const messages = [{ role: 'user', content: 'hi' }];

function context(fields: Partial<ApiContext> = {}): ApiContext {
  return {
    credentials: { kind: 'bearer', token: TEST_API_KEY },
    requestId: 'made-id',
    headers: {},
    signal: new AbortController().signal,
    ...fields,
  };
}

function callerOf(services: FakeServices, fields: Partial<ApiContext> = {}) {
  return createAppRouter(services).createCaller(context(fields));
}

describe('credentials', () => {
  it.each([
    { kind: 'none' } as const,
    { kind: 'bearer', token: 'wrong' } as const,
    { kind: 'other', scheme: 'Basic' } as const,
  ])('refuses %j before it looks at the body', async credentials => {
    const caller = callerOf(createFakeServices(), { credentials });
    const error = await errorOf(caller.chat.create({ messages: [] }));
    expect(error).toMatchObject({ reason: 'unauthorized', message: 'Unauthorized' });
    expect(await errorOf(caller.models.list())).toMatchObject({ reason: 'unauthorized' });
  });
});

describe('models.list', () => {
  it('lists every model, ready or not, in the order of the catalog', async () => {
    const services = createFakeServices({ a: createFakeEngine(), b: { kind: 'loading', detail: '' } });
    const record = { object: 'model', created: 1_700_000_000, owned_by: 'ortler' };
    expect(await callerOf(services).models.list()).toEqual({
      object: 'list',
      data: [
        { ...record, id: 'a', root: 'a', max_model_len: createFakeEngine().info.contextLength },
        { ...record, id: 'b', root: 'b', max_model_len: null },
      ],
    });
  });
});

describe('chat.create', () => {
  it('answers with every field of the wire, absent ones as null', async () => {
    const services = createFakeServices({ demo: createFakeEngine({ cachedTokenCount: 2 }) });
    const body = await callerOf(services).chat.create({ messages });
    expect(body).toStrictEqual({
      id: 'chatcmpl-made-id',
      object: 'chat.completion',
      created: 1_790_000_000,
      model: 'demo',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Hello world!',
            refusal: null,
            annotations: null,
            audio: null,
            function_call: null,
            tool_calls: [],
            reasoning: null,
          },
          logprobs: null,
          finish_reason: 'stop',
          stop_reason: null,
          token_ids: null,
        },
      ],
      service_tier: null,
      system_fingerprint: null,
      usage: {
        prompt_tokens: 3,
        total_tokens: 6,
        completion_tokens: 3,
        prompt_tokens_details: { cached_tokens: 2 },
      },
      prompt_logprobs: null,
      prompt_token_ids: null,
      kv_transfer_params: null,
    });
  });

  it('gives token ids when they are asked for', async () => {
    const body = await callerOf(createFakeServices()).chat.complete({ messages, return_token_ids: true });
    expect(body.prompt_token_ids).toEqual([11, 12, 13]);
    expect(body.choices[0]?.token_ids).toEqual([100, 101, 102]);
  });

  it('takes the reply id from the header, else from the body, else from the request', async () => {
    const services = createFakeServices();
    const ids = await Promise.all([
      callerOf(services, { headers: { 'x-request-id': 'h' } }).chat.complete({ messages, request_id: 'abc' }),
      callerOf(services).chat.complete({ messages, request_id: 'abc' }),
      callerOf(services).chat.complete({ messages }),
    ]);
    expect(ids.map(({ id }) => id)).toEqual(['chatcmpl-h', 'chatcmpl-abc', 'chatcmpl-made-id']);
  });

  it('answers with the first model when none is named, and with 404 for an unknown one', async () => {
    const caller = callerOf(createFakeServices({ a: createFakeEngine(), b: createFakeEngine() }));
    for (const model of [undefined, null, ''])
      expect((await caller.chat.complete({ messages, model })).model).toBe('a');
    expect((await caller.chat.complete({ messages, model: 'b' })).model).toBe('b');
    const error = await errorOf(caller.chat.complete({ messages, model: 'nope' }));
    expect(error).toMatchObject({ reason: 'model_not_found', param: 'model' });
  });

  it('says to come back while a model loads, and that a broken one cannot answer', async () => {
    const loading = callerOf(createFakeServices({ a: { kind: 'loading', detail: 'building 10%' } }));
    const busy = await errorOf(loading.chat.create({ messages, stream: true }));
    expect(busy).toMatchObject({ reason: 'model_unavailable', retryAfterMs: 2_000 });
    const broken = callerOf(createFakeServices({ a: { kind: 'failed', detail: '/secret/folder' } }));
    const error = await errorOf(broken.chat.create({ messages }));
    expect(error.reason).toBe('model_unavailable');
    expect(error.message).not.toContain('/secret');
  });

  it('answers with the role of the last message when no generation prompt is added', async () => {
    const request = { messages: [{ role: 'narrator', content: 'x' }], add_generation_prompt: false };
    const body = await callerOf(createFakeServices()).chat.complete(request);
    expect(body.choices[0]?.message.role).toBe('narrator');
  });

  it.each([
    ['n', { n: 0 }],
    ['n', { n: 129 }],
    ['request_id', { request_id: 'x'.repeat(201) }],
    ['temperature', { temperature: 2.5 }],
    ['temperature', { temperature: -1 }],
    ['top_p', { top_p: 0 }],
    ['top_k', { top_k: -2 }],
    ['min_p', { min_p: 1.1 }],
    ['chat_template_kwargs', { chat_template_kwargs: { messages: [] } }],
    ['priority', { priority: 1 }],
  ])('refuses a wrong %s before a stream starts: %j', async (param, fields) => {
    const error = await errorOf(
      callerOf(createFakeServices()).chat.create({ messages, stream: true, ...fields }),
    );
    expect(error).toMatchObject({ param, code: 'BAD_REQUEST' });
  });

  it.each([
    [new EngineError('invalid_request', 'x', { parameter: 'stop.strings[2]' }), 'invalid_parameter', 'stop'],
    [
      new EngineError('invalid_request', 'x', { parameter: 'stop.maxTokens' }),
      'invalid_parameter',
      'max_tokens',
    ],
    [new EngineError('prompt_too_long', 'x', { parameter: 'prompt' }), 'context_length_exceeded', 'messages'],
    [new EngineError('template_failed', 'x'), 'invalid_parameter', null],
    [new EngineError('overloaded', 'x', { retryAfterMs: 9 }), 'overloaded', null],
    [new EngineError('model_unavailable', 'x', { retryAfterMs: 7 }), 'model_unavailable', null],
    [new EngineError('engine_failed', 'x'), 'internal', null],
    [new EngineError('aborted', 'x'), 'aborted', null],
  ])('reports %s of the engine as %s with param %s', async (refuse, reason, param) => {
    const services = createFakeServices({ demo: createFakeEngine({ refuse }) });
    const error = await errorOf(callerOf(services).chat.create({ messages, stream: true, max_tokens: 5 }));
    expect(error).toMatchObject({ reason, param, retryAfterMs: refuse.retryAfterMs });
  });

  it('names max_completion_tokens when that was the field given', async () => {
    const refuse = new EngineError('invalid_request', 'x', { parameter: 'stop.maxTokens' });
    const services = createFakeServices({ demo: createFakeEngine({ refuse }) });
    const error = await errorOf(callerOf(services).chat.create({ messages, max_completion_tokens: 5 }));
    expect(error.param).toBe('max_completion_tokens');
  });
});

describe('streams', () => {
  it('join to the body of the same request without streaming', async () => {
    const pieces = fc.array(fc.string({ unit: 'grapheme', maxLength: 5 }), { minLength: 1, maxLength: 8 });
    const finish = fc.constantFrom('stop' as const, 'length' as const);
    await fc.assert(
      fc.asyncProperty(pieces, finish, fc.integer({ min: 1, max: 3 }), async (texts, finishReason, n) => {
        const script = { pieces: texts, finishReason, stopReason: finishReason === 'stop' ? 7 : null };
        const caller = callerOf(createFakeServices({ demo: createFakeEngine(script) }));
        const request = { messages, n, return_token_ids: true, stream_options: { include_usage: true } };
        const chunks = await collect(await caller.chat.stream({ ...request, stream: true }));
        const { stream_options: _, ...plain } = request;
        expect(joinChunks(chunks)).toEqual(await caller.chat.complete(plain));
        for (const chunk of chunks) expect(chatChunk.parse(chunk)).toEqual(chunk);
      }),
      { numRuns: 50 },
    );
  });

  it.each([{}, { stream: false }, { stream: null }, { stream: true }])(
    'are asked for by the name of their procedure, whatever the request says: %j',
    async asked => {
      const { chat, completions, responses } = callerOf(createFakeServices());
      const usage = { ...asked, stream_options: { include_usage: true } };
      const counted = { total_tokens: expect.any(Number) };
      const ofChat = await collect(await chat.stream({ messages, ...usage }));
      expect(ofChat.at(-1)?.usage).toMatchObject(counted);
      const ofText = await collect(await completions.stream({ prompt: 'hi', ...usage }));
      expect(ofText.at(-1)?.usage).toMatchObject(counted);
      const stream_options = { include_obfuscation: false } as const;
      const events = await collect(await responses.stream({ input: 'hi', ...asked, stream_options }));
      expect(events.at(-1)?.type).toBe('response.completed');
      const withPrompt = { ...asked, prompt_logprobs: 1 };
      const fault = 'prompt_logprobs cannot be combined with stream';
      await expect(chat.stream({ messages, ...withPrompt })).rejects.toThrow(fault);
      await expect(completions.stream({ prompt: 'hi', ...withPrompt })).rejects.toThrow(fault);
    },
  );

  it('stop the engine when the reader leaves', async () => {
    const engine = createFakeEngine();
    const stream = await callerOf(createFakeServices({ demo: engine })).chat.stream({ messages });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content === 'Hello') break;
    expect(engine.abortedCount).toBe(1);
  });

  it('stop the engine when the reader leaves after the first chunk', async () => {
    const engine = createFakeEngine();
    const stream = await callerOf(createFakeServices({ demo: engine })).chat.stream({ messages });
    for await (const _chunk of stream) break;
    expect(engine.abortedCount).toBe(1);
  });

  it('fail with an internal error when the engine breaks in the middle', async () => {
    const failAt = { tokenNumber: 1, error: new EngineError('engine_failed', 'segfault') };
    const services = createFakeServices({ demo: createFakeEngine({ failAt }) });
    const texts: unknown[] = [];
    const read = async () => {
      for await (const chunk of await callerOf(services).chat.stream({ messages }))
        texts.push(chunk.choices[0]?.delta.content);
    };
    expect(await errorOf(read())).toMatchObject({ reason: 'internal' });
    expect(texts).toEqual(['', 'Hello']);
    expect(services.reports).toMatchObject([{ outcome: 'failed', completionTokenCount: 1 }]);
  });
});

describe('the observer', () => {
  it('hears once of every generation, with its counts', async () => {
    const services = createFakeServices();
    await callerOf(services).chat.complete({ messages, n: 2 });
    expect(services.reports).toEqual([
      {
        modelId: 'demo',
        outcome: 'finished',
        finishReasons: ['stop', 'stop'],
        promptTokenCount: 3,
        completionTokenCount: 6,
        choiceCount: 2,
        maxTokens: null,
        longestChoiceTokenCount: 3,
        durationMs: 0,
        firstTokenMs: 0,
        // Two between three tokens of each choice.
        tokenGapsMs: [0, 0, 0, 0],
        timing: null,
        decodeMs: null,
      },
    ]);
  });
});

describe('the outcome that the observer hears', () => {
  it.each([
    ['refused', createFakeEngine({ refuse: new EngineError('invalid_request', 'x') })],
    ['refused', createFakeEngine({ refuse: new EngineError('overloaded', 'x') })],
    ['failed', createFakeEngine({ refuse: new EngineError('engine_failed', 'x') })],
    ['failed', createFakeEngine({ refuse: new Error('a bug') })],
    ['aborted', createFakeEngine({ refuse: new EngineError('aborted', 'x') })],
  ])('is %s', async (outcome, engine) => {
    const services = createFakeServices({ demo: engine });
    await expect(callerOf(services).chat.complete({ messages })).rejects.toThrow();
    expect(services.reports).toMatchObject([{ outcome }]);
  });
});

describe('the reply schema', () => {
  it('changes nothing in a reply', async () => {
    const body = await callerOf(createFakeServices()).chat.complete({ messages, return_token_ids: true });
    expect(chatCompletion.parse(body)).toEqual(body);
  });
});

/** What a client gets that joins all chunks itself. */
function joinChunks(chunks: readonly ChatChunk[]): ChatCompletion {
  const [first] = chunks;
  const choices: ChatCompletion['choices'] = [];
  let usage: ChatChunk['usage'];
  for (const chunk of chunks) {
    usage = chunk.usage ?? usage;
    for (const { index, delta, finish_reason: finish, stop_reason: stop, token_ids: ids } of chunk.choices) {
      choices[index] ??= {
        index,
        message: {
          role: delta.role!,
          content: '',
          refusal: null,
          annotations: null,
          audio: null,
          function_call: null,
          tool_calls: [],
          reasoning: null,
        },
        logprobs: null,
        finish_reason: 'abort',
        stop_reason: null,
        token_ids: [],
      };
      const choice = choices[index];
      choice.message.content += delta.content ?? '';
      choice.token_ids?.push(...(ids ?? []));
      if (finish !== null) Object.assign(choice, { finish_reason: finish, stop_reason: stop });
    }
  }
  return {
    id: first!.id,
    object: 'chat.completion',
    created: first!.created,
    model: first!.model,
    choices,
    service_tier: null,
    system_fingerprint: null,
    usage: usage!,
    prompt_logprobs: null,
    prompt_token_ids: first!.prompt_token_ids!,
    kv_transfer_params: null,
  };
}
