// Joined chunks == body, for random answers, cuts and request fields, reasoning and log probabilities included.

import type { GenerationEvent, TokenLogprob } from '@ortler/engine';
import {
  type ChatCompletionRequest,
  chatCompletionRequest,
  type TokenLogprob as WireLogprob,
} from '@ortler/schemas';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ChatChunkWriter } from './chat-chunk-writer.ts';
import { toReplyForm } from './reply-delta.ts';
import { toChatCompletion } from './to-chat-completion.ts';

const header = { id: 'chatcmpl-1', created: 5, model: 'demo', role: 'assistant', echoedText: '' };

/** New text of one delta. */
interface Piece {
  readonly reasoning: string;
  readonly text: string;
}

const words = fc.constantFrom('\n', ' a', 'bc', '👍', '');
const piece: fc.Arbitrary<Piece> = fc.record({ reasoning: words, text: words });
const answer = fc.array(piece, { minLength: 1, maxLength: 8 });
const fields = fc.record({
  logprobs: fc.boolean(),
  return_token_ids: fc.option(fc.boolean()),
  return_tokens_as_token_ids: fc.option(fc.boolean()),
  include_reasoning: fc.boolean(),
});

function* eventsOf(
  answers: readonly (readonly Piece[])[],
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
    const { reasoning, text } = answers[choiceIndex]![at]!;
    const token = { tokenId: 10 + at, text, bytes: new TextEncoder().encode(text), logprob: -at, rank: 1 };
    const logprobs: TokenLogprob[] = [{ ...token, top: [] }];
    const isLast = at === answers[choiceIndex]!.length - 1;
    yield {
      kind: 'token-delta',
      choiceIndex,
      text,
      reasoning,
      isReasoning: text === '' && reasoning !== '',
      tokenIds: [token.tokenId],
      logprobs,
      finish: isLast ? { reason: 'stop', stopReason: null } : null,
    };
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
      fc.boolean(),
      fc.constantFrom('', 'Echo: '),
      async (answers, order, given, canReason, echoedText) => {
        const messages = [{ role: 'user' }];
        const request: ChatCompletionRequest = chatCompletionRequest.parse({
          messages,
          n: answers.length,
          ...given,
        });
        const form = toReplyForm(request, { canReason });
        const reply = { ...header, echoedText };
        const events = [...eventsOf(answers, order)];
        const body = await toChatCompletion(reply, emit(events), { request, form });
        const writer = new ChatChunkWriter(reply, request, form);
        const chunks = events.flatMap(event => writer.push(event));
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
          const hides = canReason && !given.include_reasoning;
          expect(token_ids?.length ?? null).toBe(
            given.return_token_ids && !hides ? answers[index]!.length : null,
          );
          expect(logprobs?.content?.length ?? null).toBe(
            given.logprobs && !hides ? answers[index]!.length : null,
          );
          const answer = answers[index]!.map(({ text }) => text).join('');
          const reasoning = answers[index]!.map(one => one.reasoning).join('');
          expect(message.content ?? '').toBe(echoedText + answer);
          expect(message.reasoning ?? '').toBe(given.include_reasoning ? reasoning : '');
        }
      },
    ),
    { numRuns: 200 },
  );
});

async function bodyOf(piece: Piece, given: object = {}, echoedText = '') {
  const request = chatCompletionRequest.parse({ messages: [{ role: 'user' }], ...given });
  const form = toReplyForm(request, { canReason: true });
  const events = emit(eventsOf([[piece]], [0]));
  const body = await toChatCompletion({ ...header, echoedText }, events, { request, form });
  return body.choices[0]!.message;
}

const BOTH: Piece = { reasoning: 'a', text: 'b' };
const REASONING_ONLY: Piece = { reasoning: 'a', text: '' };

it.each([
  [BOTH, { content: 'b', reasoning: 'a' }],
  [REASONING_ONLY, { content: null, reasoning: 'a' }],
  [
    { reasoning: '', text: '' },
    { content: '', reasoning: null },
  ],
  [
    { reasoning: '', text: 'b' },
    { content: 'b', reasoning: null },
  ],
])('answers %j with %j', async (piece, message) => {
  expect(await bodyOf(piece)).toMatchObject(message);
});

it('keeps the answer alone when the reasoning is not wanted', async () => {
  const given = { include_reasoning: false };
  expect(await bodyOf(BOTH, given)).toMatchObject({ content: 'b', reasoning: null });
  expect(await bodyOf(REASONING_ONLY, given)).toMatchObject({ content: null, reasoning: null });
});

it('puts the echoed text before the answer, also before one that never came', async () => {
  expect(await bodyOf(BOTH, {}, 'e')).toMatchObject({ content: 'eb', reasoning: 'a' });
  expect(await bodyOf(REASONING_ONLY, {}, 'e')).toMatchObject({ content: 'e', reasoning: 'a' });
});
