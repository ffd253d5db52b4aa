// Joined chunks == body: the same request, plain and streamed, gives the same text, tokens, ends and usage.

import fc from 'fast-check';
import { runs } from 'test-runs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningServer, startServer } from '../support/server.ts';
import { readEvents } from '../support/sse.ts';

const REQUEST_COUNT = runs({ daily: 50, full: 100 });

let server: RunningServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server?.dispose());

const phrase = fc.oneof(
  fc.constantFrom(
    '👩‍👩‍👧‍👦 family',
    '日本語のテキスト',
    'naïve café',
    'Привет, мир',
    'مرحبا',
    '🇫🇷🎉',
    'hello world',
  ),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
);
const stop = fc.array(fc.constantFrom(' ', 'e', 'is', '.', '日', '🎉', ' the', '\n'), { maxLength: 3 });
const chatRequest = fc.record({
  messages: fc
    .tuple(fc.constantFrom('Repeat: ', 'Say ', 'What is ', 'Tell me about '), phrase)
    .map(([verb, text]) => [{ role: 'user', content: verb + text }]),
  temperature: fc.constantFrom(0.3, 0.8, 1, 1.5, 2),
  top_p: fc.constantFrom(1, 0.95, 0.5),
  top_k: fc.constantFrom(0, 1, 5, 50),
  min_p: fc.constantFrom(0, 0.05),
  seed: fc.integer({ min: 0, max: 1e9 }),
  n: fc.constantFrom(1, 1, 1, 3),
  max_completion_tokens: fc.integer({ min: 1, max: 40 }),
  min_tokens: fc.constantFrom(0, 0, 1),
  ignore_eos: fc.boolean(),
  skip_special_tokens: fc.boolean(),
  include_stop_str_in_output: fc.boolean(),
  stop,
  return_token_ids: fc.constant(true),
});

test('joined chunks equal the plain body for random requests', { timeout: 300_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(chatRequest, async body => {
      // One after the other, neither with the other's prefix in the cache: two that share a step, or a cache hit, are computed
      // in calls of other shapes, whose float32 rounding now and then decides a draw.
      const plain = await send({ ...body, cache_salt: 'plain' });
      const expected = summary(await plain.json());
      const chunks = await send({ ...body, stream: true, cache_salt: 'stream' });
      expect(joined(await readEvents(chunks))).toEqual(expected);
    }),
    { numRuns: REQUEST_COUNT },
  );
});

async function send(body: object): Promise<Response> {
  const response = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, ...('stream' in body && { stream_options: { include_usage: true } }) }),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return response;
}

interface Summary {
  readonly prompt: unknown;
  readonly usage: unknown;
  readonly choices: readonly {
    role: string;
    content: string;
    reasoning: string;
    tokenIds: number[];
    finish: unknown;
    stop: unknown;
  }[];
}

// biome-ignore lint/suspicious/noExplicitAny: the wire is read without the schemas on purpose.
type Json = any;

function summary(body: Json): Summary {
  return {
    prompt: body.prompt_token_ids,
    usage: withoutCache(body.usage),
    choices: body.choices.map((choice: Json) => ({
      role: choice.message.role,
      // Chunks say nothing where the body says null: an answer cut while the model was thinking.
      content: choice.message.content ?? '',
      reasoning: choice.message.reasoning ?? '',
      tokenIds: choice.token_ids,
      finish: choice.finish_reason,
      stop: choice.stop_reason,
    })),
  };
}

function joined(chunks: readonly Json[]): Summary {
  const choices: Json[] = [];
  for (const chunk of chunks) {
    for (const { index, delta, token_ids, finish_reason, stop_reason } of chunk.choices) {
      choices[index] ??= { role: '', content: '', reasoning: '', tokenIds: [], finish: null, stop: null };
      const choice = choices[index];
      expect(choice.finish).toBeNull();
      choice.role += delta.role ?? '';
      choice.content += delta.content ?? '';
      choice.reasoning += delta.reasoning ?? '';
      choice.tokenIds.push(...(token_ids ?? []));
      if (finish_reason === null) continue;
      choice.finish = finish_reason;
      choice.stop = stop_reason;
    }
  }
  return { prompt: chunks[0].prompt_token_ids, usage: withoutCache(chunks.at(-1).usage), choices };
}

/** Which of two equal requests finds the other's prefix in the cache is a matter of order. */
function withoutCache(usage: Json): Json {
  const { prompt_tokens_details: _, ...rest } = usage;
  return rest;
}
