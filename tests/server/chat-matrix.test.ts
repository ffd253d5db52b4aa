// REST == tRPC == joined stream: random valid requests with any mix of fields give one answer, however they are asked.
// TEST_RUNS sets how many (12 times as many take some minutes), CHAT_MATRIX_SEED which ones.

import { createOrtlerClient } from '@ortler/api/client';
import type { ChatCompletionRequestInput } from '@ortler/schemas';
import fc from 'fast-check';
import { runs } from 'test-runs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ChatClient, createChatClient, type Json } from '../support/chat-client.ts';
import { type RunningServer, startServer } from '../support/server.ts';

const REQUEST_COUNT = runs({ daily: 20, full: 40 });
const SEED = Number(process.env.CHAT_MATRIX_SEED ?? 20_261_121);

let server: RunningServer;
let rest: ChatClient;
let trpc: ReturnType<typeof createOrtlerClient>;
beforeAll(async () => {
  server = await startServer();
  rest = createChatClient(server);
  trpc = createOrtlerClient({ url: server.url, apiKey: server.apiKey });
});
afterAll(() => server?.dispose());

/** Left out of about every second request. */
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const text = fc.constantFrom('What is 2 + 2?', 'Hello', 'Repeat: 日本 👍', 'Name a colour.', 'a b c');
const conversation = fc.oneof(
  text.map(content => ({ messages: [{ role: 'user', content }] })),
  text.map(content => ({
    messages: [
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content },
    ],
  })),
  text.map(content => ({
    messages: [{ role: 'user', content: [content, { type: 'text', text: 'Now.' }] }],
    reasoning_effort: 'low',
  })),
  fc.record({ content: text, echo: fc.boolean() }).map(({ content, echo }) => ({
    messages: [
      { role: 'user', content },
      { role: 'assistant', content: 'The answer is' },
    ],
    add_generation_prompt: false,
    continue_final_message: true,
    echo,
  })),
  text.map(content => ({ messages: [{ role: 'user', content }], add_generation_prompt: false, echo: true })),
);
const drawing = fc.oneof(
  fc.constant({ temperature: 0 }),
  fc.record({
    temperature: fc.constantFrom(0.3, 1, 1.7),
    n: fc.constantFrom(1, 1, 3),
    top_p: maybe(fc.constantFrom(0.5, 0.95, 1)),
    top_k: maybe(fc.constantFrom(-1, 0, 5, 50)),
    min_p: maybe(fc.constantFrom(0, 0.05)),
  }),
  fc.record({
    use_beam_search: fc.constant(true),
    n: fc.constantFrom(1, 2, 3),
    length_penalty: fc.constantFrom(0, 1, 2),
    max_completion_tokens: fc.constantFrom(1, 4),
  }),
);
const fields = fc.record(
  {
    seed: fc.integer({ min: 0, max: 1e9 }),
    frequency_penalty: fc.constantFrom(-1, 0.5, 2),
    presence_penalty: fc.constantFrom(-1, 0.5, 2),
    repetition_penalty: fc.constantFrom(0.9, 1.2),
    logit_bias: fc.constantFrom({ 5: 3 }, { 400: 100, 401: -100 }),
    allowed_token_ids: fc.uniqueArray(fc.integer({ min: 300, max: 2000 }), { minLength: 5, maxLength: 40 }),
    bad_words: fc.constantFrom(['Paris'], ['the', ' of a']),
    stop: fc.constantFrom('.', ['e', ' '], ['👍', '\n']),
    include_stop_str_in_output: fc.boolean(),
    ignore_eos: fc.boolean(),
    skip_special_tokens: fc.boolean(),
    repetition_detection: fc.constant({ max_pattern_size: 3, min_pattern_size: 1, min_count: 3 }),
    truncate_prompt_tokens: fc.constantFrom(-1, 3, 9),
    documents: fc.constant([{ title: 'T', text: 'Paris is in France.' }]),
    tools: fc.constant([{ type: 'function', function: { name: 'f' } }]),
    include_reasoning: fc.boolean(),
    return_token_ids: fc.boolean(),
    return_tokens_as_token_ids: fc.boolean(),
    user: fc.constant('ada'),
  },
  { requiredKeys: ['seed'] },
);
const reports = fc.oneof(
  fc.constant({}),
  fc.record({ logprobs: fc.constant(true), top_logprobs: fc.constantFrom(0, 2) }),
);
const request = fc
  .tuple(
    fields,
    conversation,
    reports,
    fc.record({ max_completion_tokens: fc.constantFrom(1, 6, 16) }),
    drawing,
  )
  .map(parts => Object.assign({}, ...parts) as object);

test('one request has one answer over REST and tRPC, whole and streamed', {
  timeout: 3_600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(request, async body => {
      const whole = await rest.chat(body);
      const input = { ...body, stream_options: { include_usage: true }, stream: true };
      const typed = (given: object) => given as unknown as ChatCompletionRequestInput;
      const expected = summary(whole);
      expectSame(joined(await rest.stream(input)), expected);
      expectSame(summary(await trpc.chat.complete.mutate(typed(body))), expected);
      const chunks: Json[] = [];
      for await (const chunk of await trpc.chat.stream.mutate(typed(input))) chunks.push(chunk);
      expectSame(joined(chunks), expected);
    }),
    { numRuns: REQUEST_COUNT, seed: SEED },
  );
});

interface Answer {
  readonly usage: Json;
  readonly prompt: Json;
  readonly choices: Choice[];
}

interface Choice {
  role: string;
  content: string;
  reasoning: string;
  ids: number[];
  tokens: Json[];
  /** Of each token and of its candidates, one after the other. */
  logprobs: number[];
  finish: unknown;
  stop: unknown;
}

/** Sums of floats depend on what is computed together, in their last digits. */
const LOGPROB_TOLERANCE = 1e-3;

function expectSame(found: Answer, expected: Answer): void {
  expect(withoutLogprobs(found)).toEqual(withoutLogprobs(expected));
  for (const [index, { logprobs }] of expected.choices.entries()) {
    const others = found.choices[index]!.logprobs;
    expect(others).toHaveLength(logprobs.length);
    for (const [place, logprob] of logprobs.entries())
      expect(Math.abs(others[place]! - logprob), `log probability ${place}`).toBeLessThan(LOGPROB_TOLERANCE);
  }
}

function withoutLogprobs({ choices, ...rest }: Answer): object {
  return { ...rest, choices: choices.map(({ logprobs: _, ...choice }) => choice) };
}

function summary(body: Json): Answer {
  return {
    usage: withoutCache(body.usage),
    prompt: body.prompt_token_ids,
    choices: body.choices.map(
      ({ message, token_ids, logprobs, finish_reason, stop_reason }: Json): Choice => ({
        role: message.role,
        content: message.content ?? '',
        reasoning: message.reasoning ?? '',
        ids: token_ids ?? [],
        tokens: (logprobs?.content ?? []).map(tokensOf),
        logprobs: (logprobs?.content ?? []).flatMap(logprobsOf),
        finish: finish_reason,
        stop: stop_reason,
      }),
    ),
  };
}

function joined(chunks: readonly Json[]): Answer {
  const choices: Choice[] = [];
  for (const { index, delta, token_ids, logprobs, finish_reason, stop_reason } of chunks.flatMap(
    chunk => chunk.choices,
  )) {
    choices[index] ??= {
      role: '',
      content: '',
      reasoning: '',
      ids: [],
      tokens: [],
      logprobs: [],
      finish: null,
      stop: null,
    };
    const choice = choices[index];
    expect(choice.finish).toBeNull();
    choice.role += delta.role ?? '';
    choice.content += delta.content ?? '';
    choice.reasoning += delta.reasoning ?? '';
    choice.ids.push(...(token_ids ?? []));
    choice.tokens.push(...(logprobs?.content ?? []).map(tokensOf));
    choice.logprobs.push(...(logprobs?.content ?? []).flatMap(logprobsOf));
    choice.finish = finish_reason;
    if (finish_reason !== null) choice.stop = stop_reason;
  }
  return { usage: withoutCache(chunks.at(-1).usage), prompt: chunks[0].prompt_token_ids, choices };
}

function tokensOf({ token, bytes, top_logprobs }: Json): Json {
  return { token, bytes, top: top_logprobs.map((candidate: Json) => candidate.token) };
}

function logprobsOf({ logprob, top_logprobs }: Json): number[] {
  return [logprob, ...top_logprobs.map((candidate: Json) => candidate.logprob)];
}

/** Which of equal requests finds the others' prompt in the cache is a matter of order. */
function withoutCache(usage: Json): Json {
  const { prompt_tokens_details: _, ...rest } = usage;
  return rest;
}
