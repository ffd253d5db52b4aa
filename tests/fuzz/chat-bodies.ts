// Fuzz target: valid chat bodies with a few values replaced by hostile ones, or with broken text. Whatever comes, the
// server answers in time, never with a 5xx, and every refusal names its field. Run by main.ts and by a test.

import { chatCompletionRequest } from '@ortler/schemas';
import fc from 'fast-check';

export interface FuzzOptions {
  readonly url: string;
  readonly apiKey: string;
  readonly count: number;
  readonly seed: number;
  readonly onProgress?: (done: number, statuses: ReadonlyMap<number, number>) => void;
}

export interface FuzzFailure {
  readonly problem: string;
  readonly body: string;
}

const BATCH_LENGTH = 200;
const CONCURRENCY = 4;
/** Unit: milliseconds. A template and an encoding may take their time limits, one after the other, in a queue. */
const REPLY_LIMIT_MS = 60_000;
const FIELDS = Object.keys(chatCompletionRequest.shape);
/** How messages begin that are about the body as a whole. */
const WHOLE_BODY = /^(Request body|The body|.*JSON)/;

const hostile: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1,
    1,
    2,
    0.5,
    -0.5,
    21,
    129,
    1e6,
    1e308,
    -1e308,
    2 ** 53,
    1e19,
  ),
  fc.constantFrom<unknown>(
    '',
    ' ',
    'x',
    '0',
    '-1',
    '1e999',
    'NaN',
    'Infinity',
    'true',
    'none',
    '\u0000',
    '\ud800',
  ),
  fc.constantFrom<unknown>(
    '{{ 1 / 0 }}',
    '{% for',
    '{{ messages }}',
    '<|im_end|>',
    '__proto__',
    'x'.repeat(5_000),
  ),
  fc.constantFrom<unknown>(
    [],
    [null],
    [[]],
    {},
    { a: null },
    [1.5],
    ['', ''],
    { type: 'function' },
    { '-1': 1 },
  ),
  fc.integer().map(depth => nested(Math.abs(depth) % 200)),
  fc.array(fc.integer({ min: -5, max: 70_000 }), { maxLength: 20 }),
  fc.jsonValue({ maxDepth: 3 }),
);

const valid: fc.Arbitrary<Record<string, unknown>> = fc
  .record(
    {
      model: fc.constantFrom('a', 'b', null),
      frequency_penalty: fc.constantFrom(0, 1),
      logit_bias: fc.constantFrom({ 5: 1 }, null),
      logprobs: fc.constant(true),
      top_logprobs: fc.constantFrom(0, 2),
      n: fc.constantFrom(1, 2),
      presence_penalty: fc.constant(0.5),
      response_format: fc.constant({ type: 'text' }),
      seed: fc.integer(),
      stop: fc.constantFrom('x', ['a', 'b']),
      stream: fc.boolean(),
      stream_options: fc.constant({ include_usage: true }),
      temperature: fc.constantFrom(0.5, 1),
      top_p: fc.constant(0.9),
      tools: fc.constant([{ type: 'function', function: { name: 'f', parameters: {} } }]),
      tool_choice: fc.constant('none'),
      reasoning_effort: fc.constant('low'),
      include_reasoning: fc.boolean(),
      parallel_tool_calls: fc.boolean(),
      user: fc.constant('u'),
      use_beam_search: fc.constantFrom(false, false, true),
      top_k: fc.constantFrom(-1, 5),
      min_p: fc.constant(0.1),
      repetition_penalty: fc.constant(1.1),
      length_penalty: fc.constant(1),
      stop_token_ids: fc.constant([3]),
      include_stop_str_in_output: fc.boolean(),
      ignore_eos: fc.boolean(),
      min_tokens: fc.constantFrom(0, 1),
      skip_special_tokens: fc.boolean(),
      spaces_between_special_tokens: fc.boolean(),
      truncate_prompt_tokens: fc.constantFrom(-1, 5),
      prompt_logprobs: fc.constantFrom(0, null),
      allowed_token_ids: fc.constant([5, 6, 7]),
      bad_words: fc.constant(['bad']),
      echo: fc.boolean(),
      add_generation_prompt: fc.boolean(),
      continue_final_message: fc.constant(false),
      add_special_tokens: fc.boolean(),
      documents: fc.constant([{ text: 't' }]),
      chat_template: fc.constantFrom(null, '{{ messages[0].content }}'),
      chat_template_kwargs: fc.constant({ a: 1 }),
      mm_processor_kwargs: fc.constant({}),
      structured_outputs: fc.constant(null),
      priority: fc.constant(0),
      request_id: fc.constant('r'),
      return_tokens_as_token_ids: fc.boolean(),
      return_token_ids: fc.boolean(),
      cache_salt: fc.constant('salt'),
      kv_transfer_params: fc.constant({}),
      engine_xargs: fc.constant({ a: [1] }),
      repetition_detection: fc.constant({ max_pattern_size: 2, min_pattern_size: 1, min_count: 3 }),
    },
    { requiredKeys: [] },
  )
  .map(fields => ({
    ...withNeededFields(fields),
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
    ],
    max_completion_tokens: 3,
  }));

/** Two fields are refused without another one; most bodies should begin valid. */
function withNeededFields(fields: Record<string, unknown>): Record<string, unknown> {
  return {
    ...fields,
    ...('stream_options' in fields && { stream: true }),
    ...('top_logprobs' in fields && { logprobs: true }),
  };
}

const mutation = fc.record({ place: fc.nat(), value: hostile, field: fc.constantFrom(...FIELDS) });

/** One mutation lets what it leads to be seen; several meet each other. */
const mutations = fc.oneof(
  { weight: 2, arbitrary: fc.array(mutation, { minLength: 1, maxLength: 1 }) },
  { weight: 1, arbitrary: fc.array(mutation, { minLength: 2, maxLength: 3 }) },
);

/** Text of one body: mostly JSON with hostile values, sometimes broken JSON. */
const body: fc.Arbitrary<string> = fc
  .tuple(valid, mutations, fc.nat(99), fc.nat())
  .map(([fields, mutations, kind, place]) => {
    const mutated = structuredClone(fields);
    // A value that came twice must not end up inside itself.
    for (const { place: at, value, field } of mutations) mutate(mutated, at, field, structuredClone(value));
    const text = JSON.stringify(mutated);
    if (kind >= 3) return text;
    const cut = place % text.length;
    return kind === 0 ? text.slice(0, cut) : text.slice(0, cut) + '}]",:0e'[place % 7] + text.slice(cut);
  });

/** Sends `count` bodies. Gives the first failure; null when there was none. */
export async function fuzzChatBodies(options: FuzzOptions): Promise<FuzzFailure | null> {
  const { count, seed, onProgress } = options;
  const statuses = new Map<number, number>();
  for (let done = 0; done < count; done += BATCH_LENGTH) {
    const numRuns = Math.min(BATCH_LENGTH, count - done);
    const bodies = fc.sample(body, { numRuns, seed: seed + done });
    let failure: FuzzFailure | null = null;
    const next = bodies.values();
    const work = async () => {
      for (const text of next) {
        if (failure !== null) return;
        const problem = await problemWith(options, text, statuses);
        if (problem !== null) failure = { problem, body: text };
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, work));
    if (failure !== null) return failure;
    onProgress?.(done + numRuns, statuses);
  }
  return null;
}

async function problemWith(
  { url, apiKey }: FuzzOptions,
  text: string,
  statuses: Map<number, number>,
): Promise<string | null> {
  const started = performance.now();
  let reply: Response;
  let answer: string;
  try {
    reply = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: text,
      signal: AbortSignal.timeout(REPLY_LIMIT_MS),
    });
    answer = await reply.text();
  } catch (error) {
    return `no reply after ${Math.round(performance.now() - started)} ms: ${String(error)}`;
  }
  const { status } = reply;
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
  if (status >= 500) return `status ${status}: ${answer.slice(0, 300)}`;
  if (status >= 400) return problemWithRefusal(status, answer);
  const isStream = reply.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  if (!isStream) return null;
  if (!answer.endsWith('data: [DONE]\n\n')) return 'a stream without its end';
  return /^data: \{"error"/m.test(answer) ? `a stream that failed: ${answer.slice(-300)}` : null;
}

function problemWithRefusal(status: number, answer: string): string | null {
  const { error } = JSON.parse(answer) as { error: { message: string; param: string | null; code: unknown } };
  if (error.code !== status && error.code !== 'context_length_exceeded')
    return `status ${status} with code ${error.code}`;
  const named = `${error.param ?? ''} ${error.message}`;
  const names = FIELDS.some(field => named.includes(field));
  return names || WHOLE_BODY.test(error.message) ? null : `a ${status} that names no field: ${error.message}`;
}

/** Mutates: `fields`, at the top or at one place inside a value. */
function mutate(fields: Record<string, unknown>, place: number, field: string, value: unknown): void {
  const inner = fields[field];
  if (place % 3 === 0 || typeof inner !== 'object' || inner === null) {
    if (place % 11 === 0) delete fields[field];
    else fields[field] = value;
    return;
  }
  const keys = Object.keys(inner);
  const key = keys[place % Math.max(1, keys.length)] ?? 'x';
  const holder = inner as Record<string, unknown>;
  const deeper = holder[key];
  if (place % 2 === 0 && typeof deeper === 'object' && deeper !== null) mutate(holder, place + 1, key, value);
  else holder[key] = value;
}

function nested(depth: number): unknown {
  let value: unknown = 'x';
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}
