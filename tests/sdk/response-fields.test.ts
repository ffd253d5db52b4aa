// Every field of OpenAI's request of a response: it has an effect, is documented to have none, or is refused by name.
// The table is typed by the client library, so that a field of a new version is missed here first.

import { createAppRouter } from '@ortler/api';
import { collect, createFakeEngine, createFakeServices, errorOf, TEST_API_KEY } from '@ortler/api/testing';
import { type ResponseRequestInput, responseRequest, toChatValidationError } from '@ortler/schemas';
import type OpenAI from 'openai';
import { expect, test } from 'vitest';

type Params = OpenAI.Responses.ResponseCreateParams;
type Fate = 'effect' | 'no effect' | 'refused';

const TOOL = { type: 'function', name: 'now', parameters: { type: 'object' }, strict: true } as const;

/** Values of each field and what becomes of them. `null` is as good as leaving a field out. */
const FIELDS: { readonly [Field in keyof Required<Params>]: readonly (readonly [Params[Field], Fate])[] } = {
  access_programs: [[{ cyber: 'standard' }, 'refused']],
  background: [
    [false, 'no effect'],
    [true, 'refused'],
  ],
  background_options: [[{ completion_window: 'soonest' }, 'refused']],
  context_management: [[[{ type: 'compaction' }], 'refused']],
  conversation: [['conv_1', 'refused']],
  image: [[{ context_compression: 'auto' }, 'refused']],
  include: [
    [['message.output_text.logprobs'], 'effect'],
    [['reasoning.encrypted_content'], 'no effect'],
    [['file_search_call.results'], 'refused'],
  ],
  input: [
    ['Hello', 'effect'],
    [[{ role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }], 'effect'],
  ],
  instructions: [['Be brief.', 'effect']],
  max_output_tokens: [[5, 'effect']],
  max_tool_calls: [[3, 'no effect']],
  metadata: [[{ topic: 'x' }, 'effect']],
  model: [['demo', 'no effect']],
  moderation: [[{ model: 'm' }, 'refused']],
  parallel_tool_calls: [[false, 'effect']],
  previous_response_id: [['resp_1', 'refused']],
  prompt: [[{ id: 'p' }, 'refused']],
  prompt_cache_key: [['k', 'no effect']],
  prompt_cache_options: [
    [{ mode: 'implicit' }, 'no effect'],
    [{ mode: 'explicit' }, 'refused'],
    [{ ttl: '12h' }, 'refused'],
  ],
  prompt_cache_retention: [['24h', 'no effect']],
  reasoning: [
    [{ effort: 'low' }, 'effect'],
    [{ summary: 'concise' }, 'refused'],
  ],
  safety_identifier: [['u', 'no effect']],
  service_tier: [
    ['auto', 'no effect'],
    ['flex', 'refused'],
  ],
  store: [[false, 'effect']],
  stream: [[true, 'refused']],
  stream_options: [[{ include_obfuscation: true }, 'refused']],
  temperature: [[0.5, 'effect']],
  text: [
    [{ format: { type: 'json_object' } }, 'effect'],
    [{ verbosity: 'low' }, 'refused'],
  ],
  tool_choice: [
    ['none', 'effect'],
    [{ type: 'function', name: 'now' }, 'effect'],
    [{ type: 'file_search' }, 'refused'],
    [{ type: 'allowed_tools', mode: 'auto', tools: [] }, 'refused'],
  ],
  tools: [
    [[{ ...TOOL, name: 'other' }], 'effect'],
    [[{ type: 'web_search' }], 'refused'],
  ],
  top_logprobs: [[2, 'effect']],
  top_p: [[0.5, 'effect']],
  truncation: [['auto', 'effect']],
  user: [['u', 'no effect']],
};

/** Fields that an answer repeats: repeating them is not an effect. */
const REPEATED = new Set(['max_tool_calls', 'prompt_cache_key', 'safety_identifier', 'user']);

const cases = Object.entries(FIELDS).flatMap(([field, values]) =>
  values.map(([value, fate]) => [field, value, fate] as const),
);

test.each(cases)('%s: %j: %s', async (field, value, fate) => {
  const base = { input: 'hi', tools: [TOOL] };
  const asked = { ...base, [field]: value } as ResponseRequestInput;
  if (fate === 'refused') {
    const { param, message } = await refusalOf(asked);
    expect(param).toMatch(new RegExp(`^${field}\\b`));
    expect(message).not.toBe('');
    return;
  }
  const changes = (await answer(asked)) !== (await answer(base));
  expect(changes).toBe(fate === 'effect');
});

test('stream sends events', async () => {
  const types = (await collect(await open().caller.responses.stream({ input: 'hi', stream: true }))).map(
    ({ type }) => type,
  );
  expect(types.at(-1)).toBe('response.completed');
});

async function refusalOf(request: ResponseRequestInput) {
  const parsed = responseRequest.safeParse(request);
  return parsed.success ? errorOf(answer(request)) : toChatValidationError(parsed.error, request);
}

function open() {
  const engine = createFakeEngine();
  const services = { ...createFakeServices({ demo: engine }), toolCalling: true };
  const caller = createAppRouter(services).createCaller({
    credentials: { kind: 'bearer', token: TEST_API_KEY },
    requestId: 'request-1',
    headers: {},
    signal: new AbortController().signal,
  });
  return { engine, caller };
}

/** The request that reached the engine and the answer, without what differs from call to call. */
async function answer(request: ResponseRequestInput): Promise<string> {
  const { engine, caller } = open();
  const reply = await caller.responses.complete(request);
  const own = Object.entries(reply).filter(([key]) => !REPEATED.has(key));
  return JSON.stringify([engine.requests[0], Object.fromEntries(own)]).replaceAll(
    /(resp|msg)_[0-9a-f]{32}/g,
    '$1',
  );
}
