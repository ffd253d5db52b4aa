// Wrong values of every field of a chat and of a completion, one at a time: each refusal names the field of the wire, in
// `param` and in its message, and none speaks of the engine's own names.

import { chatCompletionRequest, completionRequest } from '@ortler/schemas';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningServer } from '../support/server.ts';
import { startTinyServer } from '../support/tiny-server.ts';

let server: RunningServer;
beforeAll(async () => {
  server = await startTinyServer();
});
afterAll(() => server.dispose());

const HALF_A_PAIR = '\ud800';

/** Values of every type, and values past every limit. */
const VALUES: readonly unknown[] = [
  ...[null, true, -1, -2, 0, 1, 1.5, 3, 21, 129, 20_000, 1e6, 2 ** 53, 1e19, -1e19, 1e308],
  ...['', ' ', 'x', '0', 'nan', HALF_A_PAIR],
  ...[
    [],
    [null],
    [1],
    [1e6],
    [-1],
    [2 ** 53],
    ['1'],
    [''],
    [' '],
    [HALF_A_PAIR],
    ['x'.repeat(2_000)],
    [[1]],
    [{}],
  ],
  ...[Array(70).fill('a'), Array(2_000).fill('a'), Array(2_000).fill(5)],
  ...[{}, { a: null }, { a: 1 }, { a: {} }, { '-1': 1 }, { 999999: 1 }, { 5: 1, '05': 1 }, { type: 'x' }],
  ...[{ type: 'json_schema' }, { json_schema: { name: 'a', schema: { type: 'x' } } }],
  ...[
    { json: '{' },
    { regex: '(' },
    { regex: '\\1' },
    { grammar: 'x' },
    { choice: [] },
    { structural_tag: '{' },
  ],
  ...[
    { json: '{}', whitespace_pattern: '(' },
    { json_object: true, _backend: 'x' },
  ],
  ...[
    { max_pattern_size: 2, min_pattern_size: 3, min_count: 2 },
    { max_pattern_size: 2, min_count: 1 },
  ],
  ...[{ max_pattern_size: -1 }, { max_pattern_size: 2 ** 53 }, [{ type: 'function', function: { name: 1 } }]],
];

/** Fields that are refused for want of another one. */
const NEEDED: Readonly<Record<string, object>> = {
  top_logprobs: { logprobs: true },
  stream_options: { stream: true },
  length_penalty: { use_beam_search: true },
};

/** Where another field is blamed, as in the service this wire format comes from, or because it is at fault. */
const OTHERS_BLAMED: Readonly<Record<string, readonly string[]>> = {
  top_logprobs: ['logprobs'],
  chat_template: ['messages'],
};

/** Words of the engine for its own fields: `stop.tokenIds`, `topP`. Names that callers made up stand in quotes. */
const ENGINE_WORD = /\b[a-z]+(?:\.[a-z]+)*[A-Z]\w*/;

const ENDPOINTS = {
  '/v1/chat/completions': {
    fields: Object.keys(chatCompletionRequest.shape),
    body: { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 1 },
  },
  '/v1/completions': {
    fields: Object.keys(completionRequest.shape),
    body: { prompt: 'Hello', max_tokens: 1 },
  },
};

test.each(Object.entries(ENDPOINTS))(
  'refusals of %s name the field',
  async (path, { fields, body }) => {
    let refusedCount = 0;
    for (const field of fields) {
      for (const value of VALUES) {
        const reply = await fetch(server.url + path, {
          method: 'POST',
          headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
          body: JSON.stringify({ ...body, ...NEEDED[field], [field]: value }),
        });
        const text = await reply.text();
        if (reply.status === 200) continue;
        refusedCount++;
        const { error } = JSON.parse(text);
        const of = `${field}: ${JSON.stringify(value).slice(0, 60)}: ${text}`;
        expect([400, 404], of).toContain(reply.status);
        expect([reply.status, 'context_length_exceeded'], of).toContain(error.code);
        const blamed = String(error.param).split('.', 1)[0]!;
        expect([field, ...(OTHERS_BLAMED[field] ?? [])], of).toContain(blamed);
        expect(error.message, of).toContain(error.code === 'context_length_exceeded' ? 'prompt' : blamed);
        expect(error.message.replace(/"[^"]*"/g, ''), of).not.toMatch(ENGINE_WORD);
      }
    }
    expect(refusedCount).toBeGreaterThan(fields.length * 10);
  },
  120_000,
);
