// Joined chunks == body, for random answers, cuts and request fields, thinking and log probabilities included.

import type { GenerationEvent, TokenLogprob } from '@ortler/engine';
import {
  type ChatCompletionRequest,
  chatCompletionRequest,
  type TokenLogprob as WireLogprob,
} from '@ortler/schemas';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { collect, createFakeEngine } from '../testing/index.ts';
import { REASONING_FORMATS, type ReasoningFormatName } from './reasoning/reasoning-format.ts';
import { toReplyEvents } from './reply-events.ts';
import { toChatChunks } from './to-chat-chunks.ts';
import { toChatCompletion } from './to-chat-completion.ts';

const header = { id: 'chatcmpl-1', created: 5, model: 'demo', role: 'assistant', echoedText: '' };

const piece = fc.constantFrom('<think>', '</think>', '<th', 'ink>', '</', '\n', ' a', 'bc', '👍', '');
const answer = fc.array(piece, { minLength: 1, maxLength: 8 });
const fields = fc.record({
  logprobs: fc.boolean(),
  return_token_ids: fc.option(fc.boolean()),
  return_tokens_as_token_ids: fc.option(fc.boolean()),
  include_reasoning: fc.boolean(),
});
const format = fc.constantFrom<ReasoningFormatName | null>(
  null,
  ...(Object.keys(REASONING_FORMATS) as ReasoningFormatName[]),
);

function* eventsOf(
  answers: readonly (readonly string[])[],
  order: readonly number[],
): Generator<GenerationEvent> {
  yield { kind: 'prompt-ready', promptTokenIds: [1, 2], cachedTokenCount: 0 };
  const next = answers.map(() => 0);
  let turn = 0;
  while (next.some((at, index) => at < answers[index]!.length)) {
    let choiceIndex = (order[turn++ % order.length] ?? 0) % answers.length;
    while (next[choiceIndex]! >= answers[choiceIndex]!.length)
      choiceIndex = (choiceIndex + 1) % answers.length;
    const at = next[choiceIndex]!++;
    const text = answers[choiceIndex]![at]!;
    const token = { tokenId: 10 + at, text, bytes: new TextEncoder().encode(text), logprob: -at, rank: 1 };
    const logprobs: TokenLogprob[] = [{ ...token, top: [] }];
    const delta = { choiceIndex, text, tokenIds: [token.tokenId], logprobs };
    if (at < answers[choiceIndex]!.length - 1) yield { kind: 'token-delta', ...delta };
    else yield { kind: 'choice-finish', ...delta, finishReason: 'stop', stopReason: null };
  }
  const completionTokenCount = answers.reduce((sum, list) => sum + list.length, 0);
  yield { kind: 'request-finish', usage: { promptTokenCount: 2, completionTokenCount, cachedTokenCount: 0 } };
}

async function* emit(events: Iterable<GenerationEvent>): AsyncGenerator<GenerationEvent> {
  yield* events;
}

interface Joined {
  role: string;
  content: string;
  reasoning: string;
  ids: number[];
  logprobs: WireLogprob[];
  finish: unknown;
}

it('the same events give the same answer, whole or in chunks', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(answer, { minLength: 1, maxLength: 3 }),
      fc.array(fc.nat(5), { minLength: 1 }),
      fields,
      format,
      fc.constantFrom('', 'Echo: '),
      async (answers, order, given, reasoningFormat, echoedText) => {
        const messages = [{ role: 'user' }];
        const request: ChatCompletionRequest = chatCompletionRequest.parse({
          messages,
          n: answers.length,
          ...given,
        });
        const replies = () =>
          toReplyEvents(emit(eventsOf(answers, order)), {
            engine: createFakeEngine(),
            request,
            reasoningFormat,
            continuedText: null,
          });
        const reply = { ...header, echoedText };
        const body = await toChatCompletion(reply, replies(), request);
        const chunks = await collect(toChatChunks(reply, replies(), request));
        const joined = answers.map((): Joined => {
          return { role: '', content: '', reasoning: '', ids: [], logprobs: [], finish: null };
        });
        for (const { index, delta, token_ids, logprobs, finish_reason } of chunks.flatMap(
          chunk => chunk.choices,
        )) {
          const choice = joined[index]!;
          expect(choice.finish).toBeNull();
          choice.role += delta.role ?? '';
          choice.content += delta.content ?? '';
          choice.reasoning += delta.reasoning ?? '';
          choice.ids.push(...(token_ids ?? []));
          choice.logprobs.push(...(logprobs?.content ?? []));
          choice.finish = finish_reason;
        }
        const whole = body.choices.map(
          ({ message, token_ids, logprobs, finish_reason }): Joined => ({
            role: message.role,
            content: message.content ?? '',
            reasoning: message.reasoning ?? '',
            ids: token_ids ?? [],
            logprobs: logprobs?.content ?? [],
            finish: finish_reason,
          }),
        );
        expect(joined).toEqual(whole);
        for (const [index, { message, token_ids, logprobs }] of body.choices.entries()) {
          const hides = reasoningFormat !== null && !given.include_reasoning;
          expect(token_ids?.length ?? null).toBe(
            given.return_token_ids && !hides ? answers[index]!.length : null,
          );
          expect(logprobs?.content?.length ?? null).toBe(
            given.logprobs && !hides ? answers[index]!.length : null,
          );
          if (reasoningFormat === null) expect(message.content).toBe(echoedText + answers[index]!.join(''));
          if (!given.include_reasoning) expect(message.reasoning).toBeNull();
        }
      },
    ),
    { numRuns: 200 },
  );
});

async function bodyOf(text: string, given: object = {}, echoedText = '') {
  const request = chatCompletionRequest.parse({ messages: [{ role: 'user' }], ...given });
  const options = {
    engine: createFakeEngine(),
    request,
    reasoningFormat: 'think' as const,
    continuedText: null,
  };
  const events = toReplyEvents(emit(eventsOf([[text]], [0])), options);
  return (await toChatCompletion({ ...header, echoedText }, events, request)).choices[0]!.message;
}

it.each([
  ['<think>a</think>b', { content: 'b', reasoning: 'a' }],
  ['<think>a', { content: null, reasoning: 'a' }],
  ['<think></think>', { content: '', reasoning: null }],
  ['b', { content: 'b', reasoning: null }],
])('answers %j with %j', async (text, message) => {
  expect(await bodyOf(text)).toMatchObject(message);
});

it('keeps the answer alone when the thinking is not wanted', async () => {
  const given = { include_reasoning: false };
  expect(await bodyOf('<think>a</think>b', given)).toMatchObject({ content: 'b', reasoning: null });
  expect(await bodyOf('<think>a', given)).toMatchObject({ content: null, reasoning: null });
});

it('puts the echoed text before the answer, also before one that never came', async () => {
  expect(await bodyOf('<think>a</think>b', {}, 'e')).toMatchObject({ content: 'eb', reasoning: 'a' });
  expect(await bodyOf('<think>a', {}, 'e')).toMatchObject({ content: 'e', reasoning: 'a' });
});

it.each([
  ['<think>\n', null, 'a', 'b'],
  ['<think>\n\n</think>\n\n', null, '', 'a</think>b'],
  ['whatever', '<think>so', 'a', 'b'],
  ['<think>', 'no thought', '', 'a</think>b'],
])(
  'goes on in the thinking after the prompt %j with the continued text %j: %j',
  async (prompt, continuedText, reasoning, content) => {
    const request = chatCompletionRequest.parse({ messages: [{ role: 'user' }] });
    const engine = { decode: () => prompt };
    const events = toReplyEvents(emit(eventsOf([['a</think>', 'b']], [0])), {
      engine,
      request,
      reasoningFormat: 'think',
      continuedText,
    });
    const { message } = (await toChatCompletion(header, events, request)).choices[0]!;
    expect([message.reasoning ?? '', message.content]).toEqual([reasoning, content]);
  },
);
