// The procedures of /v1/completions over fake engines.

import { EngineError, type GenerateOptions } from '@ortler/engine';
import { type Completion, type CompletionChunk, completion, completionChunk } from '@ortler/schemas';
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

function callerOf(services: FakeServices, headers: Record<string, string> = {}) {
  return createAppRouter(services).createCaller({
    credentials: { kind: 'bearer', token: TEST_API_KEY },
    requestId: 'made-id',
    headers,
    signal: new AbortController().signal,
  }).completions;
}

describe('a completion', () => {
  it('has every field of the wire, absent ones as null', async () => {
    const services = createFakeServices({ demo: createFakeEngine({ cachedTokenCount: 2 }) });
    expect(await callerOf(services, { 'x-request-id': 'h' }).create({ prompt: 'Say' })).toStrictEqual({
      id: 'cmpl-h',
      object: 'text_completion',
      created: 1_790_000_000,
      model: 'demo',
      choices: [
        {
          index: 0,
          text: 'Hello world!',
          logprobs: null,
          finish_reason: 'stop',
          stop_reason: null,
          token_ids: null,
          prompt_logprobs: null,
          prompt_token_ids: null,
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
      kv_transfer_params: null,
    });
  });

  it('asks the engine for text with special tokens, at most 16 tokens', async () => {
    const engine = createFakeEngine();
    await callerOf(createFakeServices({ demo: engine })).complete({ prompt: 'Say' });
    await callerOf(createFakeServices({ demo: engine })).complete({
      prompt: [5, 6],
      max_tokens: null,
      seed: 7,
      stop: 'x',
    });
    expect(engine.requests).toMatchObject([
      { prompt: { text: 'Say', addSpecialTokens: true }, stop: { maxTokens: 16 } },
      {
        prompt: { tokenIds: [5, 6] },
        sampling: { seed: 7n },
        stop: { maxTokens: 16, strings: ['x'] },
      },
    ]);
  });

  it('answers every prompt n times, those of the first prompt first, and sums their usage', async () => {
    const engine = createFakeEngine({ pieces: ['a', 'b'] });
    const body = await callerOf(createFakeServices({ demo: engine })).complete({
      prompt: ['x', 'y', 'z'],
      n: 2,
      return_token_ids: true,
    });
    expect(body.choices.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(body.choices[5]).toMatchObject({
      text: 'ab',
      token_ids: [100, 101],
      prompt_token_ids: [11, 12, 13],
    });
    expect(body.usage).toMatchObject({ prompt_tokens: 9, completion_tokens: 12, total_tokens: 21 });
    expect(engine.requests.map(({ prompt, choiceCount }) => [prompt, choiceCount])).toMatchObject([
      [{ text: 'x' }, 2],
      [{ text: 'y' }, 2],
      [{ text: 'z' }, 2],
    ]);
  });

  it('echoes the prompt as it was given, and ids as their text', async () => {
    const caller = callerOf(createFakeServices({ demo: createFakeEngine({ pieces: ['!'] }) }));
    const texts = await caller.complete({ prompt: ['x', 'y'], n: 2, echo: true });
    expect(texts.choices.map(({ text }) => text)).toEqual(['x!', 'x!', 'y!', 'y!']);
    const ids = await caller.complete({ prompt: [65], echo: true });
    expect(ids.choices[0]?.text).toBe(`${String.fromCodePoint(11, 12, 13)}!`);
  });

  it.each(['length', 'stop'] as const)(
    'echoes the prompt alone for max_tokens 0, where the hidden token ends by %s',
    async finishReason => {
      const engine = createFakeEngine({ pieces: ['!'], finishReason });
      const caller = callerOf(createFakeServices({ demo: engine }));
      const body = await caller.complete({ prompt: 'x', echo: true, max_tokens: 0 });
      expect(body.choices[0]).toMatchObject({ text: 'x', finish_reason: 'length' });
      expect(engine.requests[0]?.stop?.maxTokens).toBe(1);
      const chunks = await collect(await caller.stream({ prompt: 'x', echo: true, max_tokens: 0 }));
      expect(chunks.map(({ choices }) => choices[0]?.text)).toEqual(['x']);
      expect(chunks[0]?.choices[0]).toMatchObject({ finish_reason: 'length', stop_reason: null });
    },
  );
});

describe('refusals of a completion', () => {
  const caller = callerOf(createFakeServices());

  it.each([
    ['suffix', { suffix: 'end' }],
    ['best_of', { best_of: 3 }],
    ['best_of', { best_of: 1, n: 2 }],
    ['n', { n: 0 }],
    ['n', { n: 129 }],
    ['n', { prompt: ['a', 'b'], n: 65 }],
    ['max_tokens', { max_tokens: 0 }],
    ['request_id', { request_id: 'x'.repeat(201) }],
    ['temperature', { temperature: -1 }],
    ['priority', { priority: 1 }],
    ['model', { model: 'nope' }],
  ])('name %s before a stream starts: %j', async (param, fields) => {
    for (const stream of [true, false])
      expect(await errorOf(caller.create({ prompt: 'x', stream, ...fields }))).toMatchObject({ param });
  });

  it('do not mind a best_of that selects nothing', async () => {
    for (const best_of of [null, 2])
      expect((await caller.complete({ prompt: 'x', n: 2, best_of })).choices).toHaveLength(2);
  });

  it('need a key', async () => {
    const stranger = createAppRouter(createFakeServices()).createCaller({
      credentials: { kind: 'none' },
      requestId: 'r',
      headers: {},
      signal: new AbortController().signal,
    });
    expect(await errorOf(stranger.completions.create({ prompt: 'x' }))).toMatchObject({
      reason: 'unauthorized',
    });
  });

  it('of one prompt end the others', async () => {
    const hold = Promise.withResolvers<void>();
    const engine = createFakeEngine({ beforeToken: () => hold.promise });
    const { generate } = engine;
    const refusing = {
      ...engine,
      async *generate(request: Parameters<typeof generate>[0], options?: GenerateOptions) {
        if (typeof request.prompt === 'object' && request.prompt.text === 'bad')
          throw new EngineError('prompt_too_long', 'too long', { parameter: 'prompt' });
        yield* generate(request, options);
      },
    };
    const services = createFakeServices({ demo: refusing });
    const error = await errorOf(callerOf(services).create({ prompt: ['good', 'bad'], stream: true }));
    expect(error).toMatchObject({ reason: 'context_length_exceeded', param: 'prompt' });
    expect(engine.abortedCount).toBe(1);
  });
});

describe('a streamed completion', () => {
  it('has every key in its chunks, and the token counts of all prompts in the last', async () => {
    const caller = callerOf(createFakeServices({ demo: createFakeEngine({ pieces: ['a', 'b'] }) }));
    const request = { prompt: 'x', stream_options: { include_usage: true }, return_token_ids: true };
    const shared = { id: 'cmpl-made-id', object: 'text_completion', created: 1_790_000_000, model: 'demo' };
    const choice = { index: 0, logprobs: null, stop_reason: null };
    expect(await collect(await caller.stream({ ...request, stream: true }))).toStrictEqual([
      {
        ...shared,
        choices: [
          { ...choice, text: 'a', finish_reason: null, prompt_token_ids: [11, 12, 13], token_ids: [100] },
        ],
        usage: null,
      },
      {
        ...shared,
        choices: [{ ...choice, text: 'b', finish_reason: 'stop', prompt_token_ids: null, token_ids: [101] }],
        usage: null,
      },
      {
        ...shared,
        choices: [],
        usage: {
          prompt_tokens: 3,
          total_tokens: 5,
          completion_tokens: 2,
          prompt_tokens_details: { cached_tokens: 0 },
        },
      },
    ]);
  });

  it('has running counts of its own choice in every chunk when they are asked for', async () => {
    const caller = callerOf(createFakeServices({ demo: createFakeEngine({ pieces: ['a', 'b'] }) }));
    const stream_options = { include_usage: true, continuous_usage_stats: true };
    const chunks = await collect(await caller.stream({ prompt: 'x', stream: true, stream_options }));
    expect(chunks.map(({ usage }) => usage?.completion_tokens)).toEqual([1, 2, 2]);
  });

  it('joins to the body of the same request', async () => {
    const pieces = fc.array(fc.string({ unit: 'grapheme', maxLength: 5 }), { minLength: 1, maxLength: 6 });
    const prompts = fc.array(fc.string({ minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(
        pieces,
        prompts,
        fc.integer({ min: 1, max: 3 }),
        fc.boolean(),
        async (texts, prompt, n, echo) => {
          const caller = callerOf(createFakeServices({ demo: createFakeEngine({ pieces: texts }) }));
          const request = { prompt, n, echo, return_token_ids: true };
          const stream = await caller.stream({
            ...request,
            stream: true,
            stream_options: { include_usage: true },
          });
          const chunks = await collect(stream);
          const body = await caller.complete(request);
          expect(joinChunks(chunks)).toEqual(body);
          expect(completion.parse(body)).toEqual(body);
          for (const chunk of chunks) expect(completionChunk.parse(chunk)).toEqual(chunk);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('ends every prompt when the reader leaves', async () => {
    const engine = createFakeEngine();
    const stream = await callerOf(createFakeServices({ demo: engine })).stream({ prompt: ['x', 'y'] });
    for await (const _chunk of stream) break;
    expect(engine.abortedCount).toBe(2);
  });

  it('fails when one prompt fails in the middle', async () => {
    const failAt = { tokenNumber: 1, error: new EngineError('engine_failed', 'segfault') };
    const caller = callerOf(createFakeServices({ demo: createFakeEngine({ failAt }) }));
    const read = async () => collect(await caller.stream({ prompt: ['x', 'y'] }));
    expect(await errorOf(read())).toMatchObject({ reason: 'internal' });
  });
});

/** What a client gets that joins all chunks itself. */
function joinChunks(chunks: readonly CompletionChunk[]): Completion {
  const choices: Completion['choices'] = [];
  for (const chunk of chunks) {
    for (const { index, text, finish_reason, stop_reason, token_ids, prompt_token_ids } of chunk.choices) {
      choices[index] ??= {
        index,
        text: '',
        logprobs: null,
        finish_reason: 'abort',
        stop_reason: null,
        token_ids: [],
        prompt_logprobs: null,
        prompt_token_ids,
      };
      const choice = choices[index];
      choice.text += text;
      choice.token_ids?.push(...(token_ids ?? []));
      if (finish_reason !== null) Object.assign(choice, { finish_reason, stop_reason });
    }
  }
  const { usage, choices: _, ...header } = chunks.at(-1)!;
  return {
    ...header,
    choices,
    service_tier: null,
    system_fingerprint: null,
    usage: usage!,
    kv_transfer_params: null,
  };
}
