// Completions, tokens and single models over REST and tRPC on real engines.

import { join } from 'node:path';
import { createOrtlerClient, type OrtlerClient } from '@ortler/api/client';
import { createTinyCheckpoint } from '@ortler/model-builder/testing';
import type { Completion, CompletionLogprobs } from '@ortler/schemas';
import fc from 'fast-check';
import { runs } from 'test-runs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeServerFolder, type RunningServer, startServer } from '../support/server.ts';
import { readEvents } from '../support/sse.ts';

const REQUEST_COUNT = runs({ daily: 30, full: 60 });

let server: RunningServer;
let client: OrtlerClient;
beforeAll(async () => {
  const folder = await makeServerFolder();
  await createTinyCheckpoint(join(folder, 'a'));
  server = await startServer({ folder, arguments: ['--models', `org/a=${join(folder, 'a')}`] });
  client = createOrtlerClient({
    url: server.url,
    apiKey: server.apiKey,
    headers: { 'x-request-id': 'same' },
  });
});
afterAll(() => server?.dispose());

function send(path: string, body?: object, method = body === undefined ? 'GET' : 'POST'): Promise<Response> {
  return fetch(server.url + path, {
    method,
    headers: {
      authorization: `Bearer ${server.apiKey}`,
      'content-type': 'application/json',
      'x-request-id': 'same',
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

async function ask<Body>(path: string, body?: object): Promise<Body> {
  const reply = await send(path, body);
  if (!reply.ok) throw new Error(`${reply.status}: ${await reply.text()}`);
  return (await reply.json()) as Body;
}

const complete = (body: object) => ask<Completion>('/v1/completions', body);
const tokensOf = (body: object) =>
  ask<{ tokens: number[]; count: number; token_strs: string[] }>('/tokenize', body);

const TEXT = 'hello world';

describe('tokens', () => {
  it('of a text are the prompt of a completion, and have its text', async () => {
    const { tokens, count } = await tokensOf({ prompt: TEXT });
    const body = await complete({ prompt: TEXT, max_tokens: 1, return_token_ids: true });
    expect(body.choices[0]?.prompt_token_ids).toEqual(tokens);
    expect(body.usage.prompt_tokens).toBe(count);
    const plain = await tokensOf({ prompt: TEXT, add_special_tokens: false });
    expect(await ask('/detokenize', { tokens: plain.tokens })).toEqual({ prompt: TEXT });
  });

  it('of a conversation are the prompt of a chat', async () => {
    const messages = [{ role: 'user', content: 'hi' }];
    for (const add_generation_prompt of [true, false]) {
      const { tokens } = await tokensOf({ messages, add_generation_prompt });
      const chat = await ask<{ prompt_token_ids: number[] }>('/v1/chat/completions', {
        messages,
        add_generation_prompt,
        max_tokens: 1,
        return_token_ids: true,
      });
      expect(chat.prompt_token_ids).toEqual(tokens);
    }
  });

  it('have the texts of the vocabulary, one each', async () => {
    const { tokens, token_strs } = await tokensOf({ prompt: TEXT, return_token_strs: true });
    expect(token_strs).toHaveLength(tokens.length);
    expect(token_strs.every(text => text.length > 0)).toBe(true);
  });

  it.each([
    ['/tokenize', 'messages', { prompt: 'x', messages: [] }],
    [
      '/tokenize',
      'chat_template',
      { messages: [{ role: 'user', content: 'x' }], chat_template: '{{ broken' },
    ],
    ['/detokenize', 'tokens', { tokens: [1_000_000] }],
    ['/v1/completions', 'prompt', { prompt: [1_000_000] }],
    ['/v1/completions', 'prompt', { prompt: [[]] }],
    ['/v1/completions', 'max_tokens', { prompt: TEXT, max_tokens: 100_000 }],
    ['/v1/completions', 'logprobs', { prompt: TEXT, logprobs: 21 }],
    ['/v1/completions', 'prompt_logprobs', { prompt: TEXT, prompt_logprobs: 21 }],
  ])('%s refuses a wrong value by name: %s (%#)', async (path, param, body) => {
    const reply = await send(path, body);
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ error: { param, code: 400 } });
  });

  it('a prompt longer than the context is refused with the code of OpenAI', async () => {
    const reply = await send('/v1/completions', { prompt: [TEXT, 'x'.repeat(5_000)] });
    expect(reply.status).toBe(400);
    const message = expect.stringMatching(/^This model's maximum context length is .*\(prompt\[1\]\)$/);
    const error = { param: 'prompt', code: 'context_length_exceeded', message };
    expect(await reply.json()).toMatchObject({ error });
  });
});

describe('a model', () => {
  it('is found by its id with a raw and with an escaped slash, also by HEAD', async () => {
    const { data } = await ask<{ data: object[] }>('/v1/models');
    for (const path of ['/v1/models/org/a', '/v1/models/org%2Fa', '/v1/models/org/a/'])
      expect(await ask(path)).toEqual(data[0]);
    expect(await client.models.retrieve.query({ model_id: 'org/a' })).toEqual(data[0]);
    const head = await send('/v1/models/org/a', undefined, 'HEAD');
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('of another name is not found', async () => {
    const reply = await send('/v1/models/org');
    expect(reply.status).toBe(404);
    expect(await reply.json()).toMatchObject({ error: { type: 'NotFoundError', param: 'model' } });
  });
});

describe('a completion', () => {
  it('of ids is that of their text', async () => {
    const { tokens } = await tokensOf({ prompt: TEXT });
    const request = { seed: 5, max_tokens: 8, return_token_ids: true };
    const [ofText, ofIds] = await Promise.all([
      complete({ ...request, prompt: TEXT }),
      complete({ ...request, prompt: tokens }),
    ]);
    expect(ofIds.choices).toEqual(ofText.choices);
  });

  it('of several prompts is that of each alone', async () => {
    const prompts = [TEXT, 'a', 'some other text'];
    const request = { seed: 5, n: 2, max_tokens: 6 };
    const alone = await Promise.all(prompts.map(prompt => complete({ ...request, prompt })));
    const together = await complete({ ...request, prompt: prompts });
    const texts = (body: Completion) => body.choices.map(({ text }) => text);
    expect(texts(together)).toEqual(alone.flatMap(texts));
    const sum = (count: (body: Completion) => number) =>
      alone.reduce((total, body) => total + count(body), 0);
    expect(together.usage.prompt_tokens).toBe(sum(({ usage }) => usage.prompt_tokens));
  });

  it('that is only echoed is the prompt, with the log probabilities of its tokens', async () => {
    const { tokens } = await tokensOf({ prompt: TEXT });
    const { choices } = await complete({ prompt: TEXT, echo: true, max_tokens: 0, logprobs: 1 });
    expect(choices[0]?.text).toBe(TEXT);
    const { token_logprobs, top_logprobs } = choices[0]!.logprobs!;
    expect(token_logprobs).toHaveLength(tokens.length);
    expect(token_logprobs[0]).toBeNull();
    expect(top_logprobs[0]).toBeNull();
    expect(token_logprobs.slice(1).every(value => value! <= 0)).toBe(true);
  });

  it('reports the same of its own tokens, echoed or scored as a prompt', async () => {
    const first = await complete({
      prompt: TEXT,
      temperature: 0,
      max_tokens: 6,
      logprobs: 0,
      return_token_ids: true,
    });
    const { prompt_token_ids, token_ids, logprobs } = first.choices[0]!;
    const prompt = [...prompt_token_ids!, ...token_ids!];
    const scored = await complete({ prompt, echo: true, max_tokens: 0, logprobs: 0 });
    const tail = scored.choices[0]!.logprobs!.token_logprobs.slice(prompt_token_ids!.length);
    for (const [index, value] of tail.entries())
      expect(value).toBeCloseTo(logprobs!.token_logprobs[index]!, 3);
  });

  it('joined from chunks is the body, over REST and tRPC', { timeout: 120_000 }, async () => {
    const request = fc.record({
      prompt: fc.oneof(
        fc.constantFrom(TEXT, [TEXT, 'a'], [5, 6, 7], [[5, 6], [7]]),
        fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 3 }),
      ),
      seed: fc.integer({ min: 0, max: 1e9 }),
      n: fc.constantFrom(1, 1, 2),
      max_tokens: fc.integer({ min: 1, max: 12 }),
      echo: fc.boolean(),
      logprobs: fc.constantFrom(null, 0, 2),
      temperature: fc.constantFrom(0.5, 1, 2),
      stop: fc.constantFrom<string[]>([], ['e'], ['a', 'b']),
      ignore_eos: fc.boolean(),
      return_token_ids: fc.boolean(),
      return_tokens_as_token_ids: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(request, async body => {
        const stream_options = { include_usage: true };
        const [plain, overTrpc, streamed] = await Promise.all([
          complete(body),
          client.completions.complete.mutate(body),
          send('/v1/completions', { ...body, stream: true, stream_options }).then(readEvents),
        ]);
        const joined = joinChunks(streamed as unknown as Chunk[]);
        for (const other of [overTrpc, joined]) {
          expect(comparable(other)).toEqual(comparable(plain));
          for (const [index, choice] of other.choices.entries())
            expectNear(choice.logprobs, plain.choices[index]!.logprobs);
        }
        for (const { logprobs } of plain.choices) if (logprobs !== null) checkLists(logprobs);
      }),
      { numRuns: REQUEST_COUNT },
    );
  });
});

type Chunk = Omit<Completion, 'choices'> & { choices: Partial<Completion['choices'][number]>[] };

/** What a client gets that joins all chunks itself. */
function joinChunks(chunks: readonly Chunk[]): Completion {
  const choices: Completion['choices'] = [];
  for (const {
    index,
    text,
    logprobs,
    finish_reason,
    stop_reason,
    token_ids,
    prompt_token_ids,
  } of chunks.flatMap(chunk => chunk.choices)) {
    const choice = choices[index!];
    if (choice === undefined) {
      choices[index!] = {
        index: index!,
        text: text!,
        logprobs: logprobs!,
        finish_reason: finish_reason!,
        stop_reason: stop_reason!,
        token_ids: token_ids!,
        prompt_logprobs: null,
        prompt_token_ids: prompt_token_ids!,
      };
      continue;
    }
    choice.text += text!;
    choice.token_ids?.push(...token_ids!);
    for (const list of ['text_offset', 'token_logprobs', 'tokens', 'top_logprobs'] as const)
      (choice.logprobs?.[list] as unknown[] | undefined)?.push(...logprobs![list]);
    choice.finish_reason = finish_reason!;
    choice.stop_reason = stop_reason!;
  }
  const last = chunks.at(-1)!;
  return {
    ...last,
    choices,
    service_tier: null,
    system_fingerprint: null,
    usage: last.usage,
    kv_transfer_params: null,
  };
}

/** Without what depends on the moment (time, cache, the last digits of log probabilities) and what only bodies have. */
function comparable({ created: _, usage, choices, ...rest }: Completion): unknown {
  const { prompt_tokens_details: __, ...counts } = usage;
  return {
    ...rest,
    usage: counts,
    choices: choices.map(({ logprobs, prompt_logprobs: ___, ...choice }) => ({
      ...choice,
      tokens: logprobs?.tokens,
      offsets: logprobs?.text_offset,
    })),
  };
}

/** How requests share a step changes the last digits. */
function expectNear(left: CompletionLogprobs | null, right: CompletionLogprobs | null): void {
  expect(left?.token_logprobs.length).toBe(right?.token_logprobs.length);
  for (const [index, value] of (left?.token_logprobs ?? []).entries())
    expect(value ?? 0).toBeCloseTo(right!.token_logprobs[index] ?? 0, 3);
}

function checkLists({ tokens, token_logprobs, top_logprobs, text_offset }: CompletionLogprobs): void {
  let offset = 0;
  for (const [index, token] of tokens.entries()) {
    expect(text_offset[index]).toBe(offset);
    offset += [...token].length;
    if (token_logprobs[index] !== null) expect(top_logprobs[index]?.[token]).toBe(token_logprobs[index]);
  }
}
