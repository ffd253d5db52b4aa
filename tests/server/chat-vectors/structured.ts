// Structured outputs: vectors 44, 58, 70 to 75 and 83.

import { expect } from 'vitest';
import type { Json } from '../../support/chat-client.ts';
import { vector } from './vector.ts';

const EMOJI = '👩‍👩‍👧‍👦👍🏽 日本';

const contentOf = ({ choices }: Json): string => choices[0].message.content;
const endOf = ({ choices }: Json): unknown[] => [choices[0].finish_reason, choices[0].stop_reason];

export const structured = [
  vector(44, 'a choice is answered with one of its texts', ['structured_outputs'], async ({ client }) => {
    const body = await client.chat({ structured_outputs: { choice: ['yes'] }, max_tokens: 20 });
    expect(contentOf(body)).toBe('yes');
    expect(endOf(body)).toEqual(['stop', null]);
    const either = await client.chat({ structured_outputs: { choice: ['red', 'blue'] }, temperature: 1.5 });
    expect(['red', 'blue']).toContain(contentOf(either));
  }),
  vector(
    58,
    'probabilities are those among the legal tokens',
    ['structured_outputs', 'logprobs'],
    async ({ client, xText }) => {
      const fields = { structured_outputs: { regex: 'a' }, logprobs: true, top_logprobs: 3, max_tokens: 5 };
      const [only] = (await client.chat(fields)).choices[0].logprobs.content;
      expect(only).toMatchObject({ token: 'a', logprob: 0 });
      expect(only.top_logprobs.slice(1).map(({ logprob }: Json) => logprob)).toEqual([-9999, -9999]);
      const two = { ...fields, structured_outputs: { choice: [xText, 'b'] } };
      const [first] = (await client.chat(two)).choices[0].logprobs.content;
      expect(first.logprob).toBeLessThanOrEqual(0);
    },
  ),
  vector(70, 'json_object gives an object', ['response_format'], async ({ client }) => {
    const fields = { response_format: { type: 'json_object' }, max_tokens: 50, temperature: 1.2, seed: 4 };
    const body = await client.chat(fields);
    if (body.choices[0].finish_reason === 'stop') expect(JSON.parse(contentOf(body))).toBeTypeOf('object');
    expect(contentOf(body)).toMatch(/^\s*\{/);
  }),
  vector(71, 'an enum of one value is that value', ['response_format'], async ({ client }) => {
    const schema = { enum: [{ answer: [1, 'two', null] }] };
    const body = await client.chat({
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema } },
      // White space is free between the parts of JSON, and a model that is sure of it may go on with it to its limit.
      temperature: 1.5,
      seed: 4,
    });
    expect(JSON.parse(contentOf(body))).toEqual({ answer: [1, 'two', null] });
    expect(endOf(body)).toEqual(['stop', null]);
  }),
  vector(
    72,
    'a regular expression holds for the whole answer',
    ['structured_outputs'],
    async ({ client }) => {
      const body = await client.chat({
        structured_outputs: { regex: '[0-9]{3}' },
        temperature: 1.5,
        seed: 1,
      });
      expect(contentOf(body)).toMatch(/^[0-9]{3}$/);
      expect(endOf(body)).toEqual(['stop', null]);
    },
  ),
  vector(73, 'one constraint, and a sound one', ['structured_outputs'], async ({ client }) => {
    for (const structured_outputs of [{}, { regex: 'a', choice: ['a'] }, { choice: [] }, { json: '{' }])
      await client.refused({ structured_outputs });
    const both = { response_format: { type: 'json_object' }, structured_outputs: { regex: 'a' } };
    await client.refused(both);
    for (const structured_outputs of [{ regex: '(?=a)b' }, { grammar: 'root ::= nowhere' }])
      await client.refused({ structured_outputs }, 'structured_outputs', 'BadRequestError');
  }),
  vector(74, 'a format has its schema, and a known type', ['response_format'], async ({ client }) => {
    await client.refused({ response_format: { type: 'json_schema' } });
    await client.refused({ response_format: { type: 'yaml' } });
    await client.chat({ response_format: { type: 'text' }, max_tokens: 1 });
    const strict = { name: 'a', strict: true, schema: { type: 'array', uniqueItems: true } };
    const error = await client.refused(
      { response_format: { type: 'json_schema', json_schema: strict } },
      'response_format',
    );
    expect(error.message).toContain('uniqueItems');
  }),
  vector(75, 'a grammar says what is said', ['structured_outputs'], async ({ client }) => {
    const body = await client.chat({ structured_outputs: { grammar: 'root ::= "hi"' } });
    expect(contentOf(body)).toBe('hi');
    const lark = await client.chat({ structured_outputs: { grammar: 'start: "hi" " "? "there"' } });
    expect(contentOf(lark)).toMatch(/^hi ?there$/);
  }),
  vector(
    83,
    'characters of several tokens come whole',
    ['structured_outputs', 'stream'],
    async ({ client }) => {
      for (const structured_outputs of [{ choice: [EMOJI] }, { grammar: `root ::= "${EMOJI}"` }]) {
        const chunks = await client.stream({ structured_outputs });
        const pieces = chunks.map(({ choices }) => choices[0]?.delta.content ?? '');
        expect(pieces.join('')).toBe(EMOJI);
        for (const piece of pieces) expect(piece).not.toContain('\uFFFD');
      }
    },
  ),
];
