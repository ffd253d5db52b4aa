// Vectors 37 to 51: how choices end, and facts of sampling that hold for any weights.

import { expect } from 'vitest';
import type { ChatClient } from '../../support/chat-client.ts';
import { vector } from './vector.ts';

const idsOf = async (client: ChatClient, fields: object): Promise<number[]> =>
  (await client.chat({ return_token_ids: true, ...fields })).choices[0].token_ids;
const contentsOf = async (client: ChatClient, fields: object): Promise<string[]> =>
  (await client.chat(fields)).choices.map(
    (choice: { message: { content: string } }) => choice.message.content,
  );

export const stopping = [
  vector(37, 'the main end token ends a choice without a reason', [], async ({ client, eos }) => {
    const fields = { allowed_token_ids: [eos], max_tokens: 5, return_token_ids: true };
    const { choices, usage } = await client.chat(fields);
    expect(choices[0]).toMatchObject({
      message: { content: '' },
      finish_reason: 'stop',
      stop_reason: null,
      token_ids: [eos],
    });
    expect(usage.completion_tokens).toBe(1);
  }),
  vector(38, 'the end token has its log probability', ['logprobs'], async ({ client, eos }) => {
    const { choices } = await client.chat({ allowed_token_ids: [eos], max_tokens: 5, logprobs: true });
    expect(choices[0].logprobs.content).toHaveLength(1);
  }),
  vector(39, 'nothing ends before min_tokens', ['min_tokens'], async ({ client, eos, x }) => {
    const fields = { allowed_token_ids: [eos, x], min_tokens: 3, max_tokens: 5 };
    expect((await idsOf(client, fields)).slice(0, 3)).toEqual([x, x, x]);
  }),
  vector(
    40,
    'a stop token is the reason, and shown only when asked for',
    ['stop_token_ids', 'include_stop_str_in_output'],
    async ({ client, x, xText, vocabSize }) => {
      const fields = { allowed_token_ids: [x], stop_token_ids: [x, x], max_tokens: 5 };
      const { choices, usage } = await client.chat(fields);
      expect(choices[0]).toMatchObject({ message: { content: '' }, finish_reason: 'stop', stop_reason: x });
      expect(usage.completion_tokens).toBe(1);
      expect(await contentsOf(client, { ...fields, include_stop_str_in_output: true })).toEqual([xText]);
      await client.refused({ stop_token_ids: [vocabSize] }, 'stop_token_ids');
    },
  ),
  vector(
    41,
    'a stop text is found across tokens and cut',
    ['stop', 'include_stop_str_in_output'],
    async ({ client, x, xText }) => {
      const stop = xText + xText;
      const fields = { allowed_token_ids: [x], stop: [stop], max_tokens: 9 };
      for (const [include, content] of [
        [false, ''],
        [true, stop],
      ]) {
        const asked = { ...fields, include_stop_str_in_output: include };
        const { choices, usage } = await client.chat(asked);
        expect(choices[0]).toMatchObject({ message: { content }, finish_reason: 'stop', stop_reason: stop });
        expect(usage.completion_tokens).toBe(2);
        const chunks = await client.stream(asked);
        expect(chunks.map(chunk => chunk.choices[0].delta.content).join('')).toBe(content);
      }
    },
  ),
  vector(42, 'a stop text ends after min_tokens', ['stop', 'min_tokens'], async ({ client, x, xText }) => {
    const stop = [xText + xText];
    const { choices, usage } = await client.chat({
      allowed_token_ids: [x],
      stop,
      max_tokens: 9,
      min_tokens: 4,
    });
    expect(choices[0]).toMatchObject({ message: { content: xText.repeat(3) }, finish_reason: 'stop' });
    expect(usage.completion_tokens).toBe(5);
  }),
  vector(
    43,
    'an ignored end token does not end and is not shown',
    ['ignore_eos'],
    async ({ client, eos }) => {
      const { choices, usage } = await client.chat({
        allowed_token_ids: [eos],
        ignore_eos: true,
        max_tokens: 3,
      });
      expect(choices[0]).toMatchObject({
        message: { content: '' },
        finish_reason: 'length',
        stop_reason: null,
      });
      expect(usage.completion_tokens).toBe(3);
    },
  ),
  vector(45, 'repeated patterns end a choice', ['repetition_detection'], async ({ client, x }) => {
    const ends = async (max: number, min: number, count: number, more: object = {}) => {
      const repetition_detection = { max_pattern_size: max, min_pattern_size: min, min_count: count };
      const fields = { allowed_token_ids: [x], max_tokens: 10, repetition_detection, ...more };
      const { choices, usage } = await client.chat(fields);
      return [usage.completion_tokens, choices[0].finish_reason, choices[0].stop_reason];
    };
    expect(await ends(1, 0, 3)).toEqual([3, 'repetition', 'repetition_detected']);
    expect(await ends(2, 2, 2)).toEqual([4, 'repetition', 'repetition_detected']);
    expect(await ends(1, 0, 3, { min_tokens: 6 })).toEqual([6, 'repetition', 'repetition_detected']);
  }),
  vector(
    46,
    'sizes and counts of repetition fit each other',
    ['repetition_detection'],
    async ({ client, x }) => {
      const path = 'repetition_detection';
      const of = (max_pattern_size: number, min_pattern_size: number, min_count: number) => ({
        repetition_detection: { max_pattern_size, min_pattern_size, min_count },
      });
      expect((await client.refused(of(1, 2, 3))).param).toContain(path);
      expect((await client.refused(of(3, 0, 1))).param).toContain(path);
      const { usage } = await client.chat({
        repetition_detection: {},
        allowed_token_ids: [x],
        max_tokens: 7,
      });
      expect(usage.completion_tokens).toBe(7);
    },
  ),
  vector(47, 'length comes before repetition', ['repetition_detection'], async ({ client, x }) => {
    const repetition_detection = { max_pattern_size: 1, min_pattern_size: 0, min_count: 3 };
    const fields = { allowed_token_ids: [x], max_tokens: 3, repetition_detection };
    expect((await client.chat(fields)).choices[0]).toMatchObject({
      finish_reason: 'length',
      stop_reason: null,
    });
  }),
  vector(48, 'a seed decides, and choice i draws with seed + i', ['seed', 'n'], async ({ client }) => {
    const fields = { temperature: 1, max_tokens: 12, ignore_eos: true };
    const [first] = await contentsOf(client, { ...fields, seed: 11 });
    expect(await contentsOf(client, { ...fields, seed: 11 })).toEqual([first]);
    const [second] = await contentsOf(client, { ...fields, seed: 12 });
    expect(await contentsOf(client, { ...fields, seed: 11, n: 2 })).toEqual([first, second]);
  }),
  vector(
    49,
    'filters that leave one token are greedy',
    ['top_k', 'top_p', 'min_p', 'temperature'],
    async ({ client }) => {
      const fields = { max_tokens: 16, ignore_eos: true };
      const greedy = await contentsOf(client, { ...fields, temperature: 0 });
      for (const filter of [{ top_k: 1 }, { top_p: 1e-9 }, { min_p: 1 }])
        expect(await contentsOf(client, { ...fields, temperature: 1.7, ...filter })).toEqual(greedy);
    },
  ),
  vector(50, 'bad words do not come', ['bad_words'], async ({ client, x, xText, y }) => {
    const fields = { bad_words: [xText], allowed_token_ids: [x, y], max_tokens: 3 };
    expect(await idsOf(client, fields)).toEqual([y, y, y]);
  }),
  vector(
    51,
    'penalties on the output leave the first greedy token alone, and act on later ones',
    ['presence_penalty', 'frequency_penalty', 'repetition_penalty'],
    async ({ client, x, y }) => {
      const first = { temperature: 0, max_tokens: 1 };
      const [plain] = await idsOf(client, first);
      for (const penalty of [{ presence_penalty: 2 }, { frequency_penalty: 2 }])
        expect(await idsOf(client, { ...first, ...penalty })).toEqual([plain]);
      const pair = { temperature: 0, allowed_token_ids: [x, y], max_tokens: 60 };
      expect(new Set(await idsOf(client, { ...pair, frequency_penalty: 2 })).size).toBe(2);
      const free = { temperature: 1, ignore_eos: true, max_tokens: 60, seed: 5 };
      const variety = async (presence_penalty: number) =>
        new Set(await idsOf(client, { ...free, presence_penalty })).size;
      expect(await variety(2)).toBeGreaterThan(await variety(-2));
      const body = await client.chat({
        temperature: 0,
        ignore_eos: true,
        max_tokens: 30,
        repetition_penalty: 1e6,
        return_token_ids: true,
      });
      const ids: number[] = body.choices[0].token_ids;
      expect(new Set([...ids, ...body.prompt_token_ids]).size).toBe(
        ids.length + new Set(body.prompt_token_ids).size,
      );
    },
  ),
];
