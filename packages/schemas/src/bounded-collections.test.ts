// Counts how many elements of a body are validated: a list or object past its bound costs no more than a small one.

import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { MAX_LIST_LENGTH, MAX_NAMED_VALUES } from './bounded-collections.ts';
import { chatCompletionRequest } from './chat-completion-request.ts';
import { MAX_MESSAGE_COUNT, MAX_PART_COUNT } from './chat-prompt.ts';
import { MAX_LOGIT_BIAS_COUNT } from './chat-sampling.ts';
import { toChatValidationError } from './error.ts';
import { MAX_TOKEN_ID_COUNT } from './token-ids.ts';

const MESSAGES = [{ role: 'user', content: 'a' }];
const TOOL = { function: { name: 'f' } };
const PART = { type: 'text', text: 'a' };

/** A value that counts how many elements of it are read. */
function counting<Value extends object>(value: Value): { value: Value; readCount: () => number } {
  let count = 0;
  const handler: ProxyHandler<Value> = {
    get(target, key, receiver) {
      if (typeof key === 'string' && (!Array.isArray(target) || /^\d+$/.test(key))) count++;
      return Reflect.get(target, key, receiver);
    },
  };
  return { value: new Proxy(value, handler), readCount: () => count };
}

function faultsOf(body: object): readonly z.core.$ZodIssue[] {
  return chatCompletionRequest.safeParse({ messages: MESSAGES, ...body }).error?.issues ?? [];
}

it.each(['chat_template_kwargs', 'logit_bias'])('%s: a key that would be lost is refused', field => {
  const faults = faultsOf({ [field]: JSON.parse('{"__proto__": 1}') });
  expect(faults.map(({ path, message }) => [path, message])).toEqual([
    [[field], 'Value error, a key must not be __proto__'],
  ]);
});

describe('lists and objects past their bound', () => {
  it.each<[string, number, unknown]>([
    ['messages', MAX_MESSAGE_COUNT, MESSAGES[0]],
    ['stop', MAX_LIST_LENGTH, 'a'],
    ['bad_words', MAX_LIST_LENGTH, 'a'],
    ['tools', MAX_LIST_LENGTH, TOOL],
    ['documents', MAX_LIST_LENGTH, {}],
    ['allowed_token_ids', MAX_TOKEN_ID_COUNT, 5],
    ['stop_token_ids', MAX_TOKEN_ID_COUNT, 5],
  ])('%s: no item is looked at', (field, limit, item) => {
    const { value, readCount } = counting(new Array<unknown>(limit + 1).fill(item));
    const body = { messages: MESSAGES, [field]: value };
    const { error } = chatCompletionRequest.safeParse(body);
    const { param, message } = toChatValidationError(error!, body);
    expect([param, message]).toEqual([field, expect.stringMatching(new RegExp(`^[^;]* ${limit} [^;]*$`))]);
    expect(readCount()).toBe(0);
    expect(faultsOf({ [field]: new Array<unknown>(limit).fill(item) })).toEqual([]);
  });

  it.each<[string, number, unknown]>([
    ['logit_bias', MAX_LOGIT_BIAS_COUNT, 1],
    ['engine_xargs', 256, 'x'],
    ['chat_template_kwargs', MAX_NAMED_VALUES, {}],
    ['mm_processor_kwargs', MAX_NAMED_VALUES, {}],
    ['kv_transfer_params', MAX_NAMED_VALUES, {}],
  ])('%s: no entry is looked at', (field, limit, entry) => {
    const entries = Object.fromEntries(Array.from({ length: limit + 1 }, (_, key) => [key, entry]));
    const { value, readCount } = counting(entries);
    expect(faultsOf({ [field]: value })).toHaveLength(1);
    expect(readCount()).toBe(0);
  });

  it('messages: no part is looked at when all of them hold too many', () => {
    const half = MAX_PART_COUNT / 2;
    const parts = counting(new Array(half).fill(PART));
    const messages = (more: number) => [
      { role: 'user', content: parts.value },
      { role: 'user', content: new Array(half - 1).fill('a') },
      { role: 'assistant', tool_calls: new Array(1 + more).fill(null) },
    ];
    const [fault, ...others] = faultsOf({ messages: messages(1) });
    expect(fault).toMatchObject({ path: ['messages'] });
    expect(others).toEqual([]);
    expect(parts.readCount()).toBe(0);
    // With one less, what is wrong is an element.
    expect(faultsOf({ messages: messages(0) })[0]!.path).toEqual(['messages', 2, 'tool_calls', 0]);
  });
});

describe('objects that are handed on', () => {
  it.each([
    ['documents', (value: object) => [value]],
    ['tools', (value: object) => [{ function: { name: 'f', parameters: value } }]],
    ['response_format', (value: object) => ({ json_schema: { name: 'a', schema: value } })],
    ['structured_outputs', (value: object) => ({ json: value })],
  ] as const)('%s: nothing in them is looked at or copied', (field, place) => {
    const { value, readCount } = counting(
      Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [i, i])),
    );
    const body: Record<string, unknown> = { messages: MESSAGES, [field]: place(value) };
    const parsed = chatCompletionRequest.parse(body) as Record<string, unknown>;
    expect(readCount()).toBe(0);
    expect(JSON.stringify(parsed[field])).toContain('"999":999');
  });

  it.each([[null], [[]], ['x'], [1]])('are objects: %j is refused', value => {
    const [fault] = faultsOf({ documents: [value] });
    expect(fault).toMatchObject({ path: ['documents', 0], params: { type: 'dict_type' } });
  });
});
