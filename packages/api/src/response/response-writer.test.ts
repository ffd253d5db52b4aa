import type { ChoiceFinish, GenerationEvent, TokenDeltaEvent } from '@ortler/engine';
import { type ResponseStreamEvent, responseRequest, responseStreamEvent } from '@ortler/schemas';
import { expect, it } from 'vitest';
import type { ReplyForm } from '../chat/reply-delta.ts';
import { toReplyEvent } from '../chat/reply-event.ts';
import { ResponseWriter } from './response-writer.ts';
import { toResponseObject } from './to-response-object.ts';

const READY: GenerationEvent = { kind: 'prompt-ready', promptTokenIds: [1, 2, 3], cachedTokenCount: 1 };
const FINISH: GenerationEvent = {
  kind: 'request-finish',
  usage: { promptTokenCount: 3, completionTokenCount: 4, cachedTokenCount: 1 },
};
const STOP: ChoiceFinish = { reason: 'stop', stopReason: null };

function delta(fields: Partial<TokenDeltaEvent>): GenerationEvent {
  return {
    kind: 'token-delta',
    choiceIndex: 0,
    text: '',
    reasoning: '',
    isReasoning: false,
    tokenIds: [7],
    finish: null,
    ...fields,
  };
}

function writerOf(fields: object, logprobs: ReplyForm['logprobs'] = null) {
  const request = responseRequest.parse({ input: 'hi', ...fields });
  const response = toResponseObject({ id: 'resp_1', createdAt: 5, model: 'demo' }, request, false);
  const form = { withIds: false, logprobs, hasMarks: false, countsReasoning: false };
  const writer = new ResponseWriter({ response, now: () => 9_000 });
  return {
    push: (event: GenerationEvent) => writer.push(toReplyEvent(event, form)),
    fail: (error: unknown, id: string) => writer.fail(error, id),
    get response() {
      return writer.response;
    },
  };
}

function eventsOf(deltas: readonly GenerationEvent[], fields: object = {}): ResponseStreamEvent[] {
  const writer = writerOf(fields);
  return [READY, ...deltas, FINISH].flatMap(event => writer.push(event));
}

const THOUGHT = [
  delta({ reasoning: 'Hm', isReasoning: true }),
  delta({ reasoning: '.', isReasoning: true }),
  delta({ text: 'Pa' }),
  delta({ text: 'ris', finish: STOP }),
];

it('sends the events of a text in the order of OpenAI, numbered from 0', () => {
  const events = eventsOf([delta({ text: 'Pa' }), delta({ text: 'ris', finish: STOP })]);
  expect(events.map(({ type }) => type)).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.delta',
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.completed',
  ]);
  expect(events.map(event => event.sequence_number)).toEqual(events.map((_, index) => index));
});

it('sends events of the documented shape', () => {
  for (const event of [...eventsOf(THOUGHT), ...eventsOf(THOUGHT, { reasoning: { summary: 'auto' } })])
    expect(responseStreamEvent.parse(event)).toEqual(event);
});

it('ends with the whole answer and its token counts', () => {
  expect(eventsOf(THOUGHT).at(-1)).toMatchObject({
    type: 'response.completed',
    response: {
      status: 'completed',
      created_at: 5,
      completed_at: 9,
      output: [
        { type: 'reasoning', id: 'rs_1_0', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] },
        { type: 'message', id: 'msg_1_1', status: 'completed', content: [{ text: 'Paris' }] },
      ],
      usage: {
        input_tokens: 3,
        input_tokens_details: { cached_tokens: 1 },
        output_tokens: 4,
        output_tokens_details: { reasoning_tokens: 2 },
        total_tokens: 7,
      },
    },
  });
});

it('gives reasoning as its summary when one is requested', () => {
  const events = eventsOf(THOUGHT, { reasoning: { summary: 'auto' } });
  expect(events.slice(2, 9).map(({ type }) => type)).toEqual([
    'response.output_item.added',
    'response.reasoning_summary_part.added',
    'response.reasoning_summary_text.delta',
    'response.reasoning_summary_text.delta',
    'response.reasoning_summary_text.done',
    'response.reasoning_summary_part.done',
    'response.output_item.done',
  ]);
  expect(events[8]).toMatchObject({ item: { summary: [{ text: 'Hm.' }], content: [] } });
});

it.each([
  [{ reason: 'length', stopReason: null }, 'max_output_tokens'],
  [{ reason: 'repetition', stopReason: 'repetition_detected' }, 'repetition'],
] satisfies [ChoiceFinish, string][])(
  'marks an answer and its open item as incomplete after %j',
  (finish, reason) => {
    const last = eventsOf([delta({ reasoning: 'Hm', isReasoning: true, finish })]).at(-1);
    expect(last).toMatchObject({
      type: 'response.incomplete',
      response: {
        status: 'incomplete',
        incomplete_details: { reason },
        output: [{ type: 'reasoning', status: 'incomplete' }],
      },
    });
  },
);

it('gives an empty message where the model said nothing', () => {
  expect(eventsOf([delta({ finish: STOP })]).at(-1)).toMatchObject({
    response: { status: 'completed', output: [{ type: 'message', content: [{ text: '' }] }] },
  });
});

it('reports a failure with what there is so far', () => {
  const writer = writerOf({});
  for (const event of [READY, delta({ text: 'Pa' })]) writer.push(event);
  const events = writer.fail(new Error('secret'), 'request-1');
  expect(events.at(-1)).toMatchObject({
    type: 'response.failed',
    response: {
      status: 'failed',
      error: { code: 'server_error', message: expect.stringContaining('request-1') },
      output: [{ status: 'incomplete', content: [{ text: 'Pa' }] }],
    },
  });
});

it('gives every log probability of the message, also of tokens without text', () => {
  const logprob = (text: string) => ({
    tokenId: 1,
    text,
    bytes: new TextEncoder().encode(text),
    logprob: -1,
    rank: 1,
    top: [],
  });
  const writer = writerOf({}, { topCount: 0, asTokenIds: false });
  const events = [
    READY,
    delta({ reasoning: 'Hm', isReasoning: true, logprobs: [logprob('Hm')] }),
    delta({ logprobs: [logprob('Pa')] }),
    delta({ text: 'Paris', logprobs: [logprob('ris')] }),
    delta({ logprobs: [logprob('<end>')], finish: STOP }),
    FINISH,
  ].flatMap(event => writer.push(event));
  const message = events.at(-1) as Extract<ResponseStreamEvent, { type: 'response.completed' }>;
  const tokensOf = (list: readonly { readonly token: string }[]) => list.map(({ token }) => token);
  const [, item] = message.response.output;
  expect(item).toMatchObject({
    content: [{ logprobs: [{ token: 'Pa' }, { token: 'ris' }, { token: '<end>' }] }],
  });
  const streamed = events.flatMap(event =>
    event.type === 'response.output_text.delta' ? event.logprobs : [],
  );
  expect(tokensOf(streamed)).toEqual(['Pa', 'ris', '<end>']);
});
