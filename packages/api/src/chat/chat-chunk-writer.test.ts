import type { ChoiceFinish, GenerationEvent, TokenDeltaEvent } from '@ortler/engine';
import { chatCompletionRequest } from '@ortler/schemas';
import { describe, expect, it } from 'vitest';
import { ChatChunkWriter } from './chat-chunk-writer.ts';
import { toReplyForm } from './reply-delta.ts';
import { toChatCompletion } from './to-chat-completion.ts';

const header = { id: 'chatcmpl-1', created: 5, model: 'demo', role: 'assistant', echoedText: '' };
const shared = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 5, model: 'demo' };

function delta(
  choiceIndex: number,
  text: string,
  tokenIds: readonly number[],
  finish: ChoiceFinish | null = null,
): GenerationEvent {
  return { kind: 'token-delta', choiceIndex, text, reasoning: '', isReasoning: false, tokenIds, finish };
}

const events: GenerationEvent[] = [
  { kind: 'prompt-ready', promptTokenIds: [1, 2, 3], cachedTokenCount: 1 },
  delta(0, 'a', [7]),
  delta(0, 'b', [8, 2], { reason: 'stop', stopReason: null }),
  { kind: 'request-finish', usage: { promptTokenCount: 3, completionTokenCount: 3, cachedTokenCount: 1 } },
];

function writerOf(fields: object, echoedText = '', canReason = false): ChatChunkWriter {
  const request = chatCompletionRequest.parse({ messages: [{ role: 'user' }], stream: true, ...fields });
  return new ChatChunkWriter({ ...header, echoedText }, request, toReplyForm(request, { canReason }));
}

const WITH_TOOLS = { tools: [{ function: { name: 'f' } }], tool_choice: 'auto' };

function chunksOf(fields: object, list = events, echoedText = '') {
  const writer = writerOf(fields, echoedText);
  return list.flatMap(event => writer.push(event));
}

it('sends role, content and finish chunks with exactly the keys of the wire', () => {
  expect(chunksOf({})).toStrictEqual([
    {
      ...shared,
      choices: [{ index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }],
      prompt_token_ids: null,
    },
    {
      ...shared,
      choices: [{ index: 0, delta: { content: 'a' }, logprobs: null, finish_reason: null, token_ids: null }],
    },
    {
      ...shared,
      choices: [
        {
          index: 0,
          delta: { content: 'b' },
          logprobs: null,
          finish_reason: 'stop',
          stop_reason: null,
          token_ids: null,
        },
      ],
    },
  ]);
});

it('adds one usage chunk at the end when it is asked for', () => {
  const chunks = chunksOf({ stream_options: { include_usage: true } });
  expect(chunks).toHaveLength(4);
  expect(chunks.slice(0, 3).some(chunk => 'usage' in chunk)).toBe(false);
  expect(chunks[3]).toStrictEqual({
    ...shared,
    choices: [],
    usage: {
      prompt_tokens: 3,
      total_tokens: 6,
      completion_tokens: 3,
      prompt_tokens_details: { cached_tokens: 1 },
    },
  });
});

it.each([
  ['the tokens of the reasoning, also where it is hidden', {}, true, { reasoning_tokens: 2 }],
  ['no details where nothing separates reasoning', {}, false, undefined],
  ['none of a beam search, which does not tell the tokens apart', { use_beam_search: true }, true, undefined],
])('counts %s', async (_, fields, canReason, details) => {
  const thought: GenerationEvent = { ...(events[1] as TokenDeltaEvent), reasoning: 'hm', isReasoning: true };
  const list = [events[0]!, { ...thought, text: '', tokenIds: [5, 6] }, ...events.slice(1)];
  const given = { ...fields, include_reasoning: false, stream_options: { include_usage: true } };
  const request = chatCompletionRequest.parse({ messages: [{ role: 'user' }], stream: true, ...given });
  const form = toReplyForm(request, { canReason });
  const writer = new ChatChunkWriter({ ...header }, request, form);
  const last = list.flatMap(event => writer.push(event)).at(-1);
  expect(last?.usage?.completion_tokens_details).toEqual(details);
  const whole = await toChatCompletion(header, emit(list), { request, form });
  expect(whole.usage).toEqual(last?.usage);
});

async function* emit(list: readonly GenerationEvent[]): AsyncGenerator<GenerationEvent> {
  yield* list;
}

it('adds running usage to every chunk when it is asked for', () => {
  const chunks = chunksOf({ stream_options: { include_usage: true, continuous_usage_stats: true } });
  expect(chunks.map(chunk => chunk.usage?.completion_tokens)).toEqual([0, 1, 3, 3]);
  expect(chunks.map(chunk => chunk.usage?.prompt_tokens)).toEqual([3, 3, 3, 3]);
});

it.each([
  [{}, 0],
  [{ include_usage: false }, 0],
  [{ include_usage: false, continuous_usage_stats: true }, 0],
  [{ continuous_usage_stats: true }, 4],
])('reads the stream options %j as %i chunks with usage', (options, count) => {
  const chunks = chunksOf({ stream_options: options });
  expect(chunks.filter(chunk => 'usage' in chunk)).toHaveLength(count);
});

it('sends prompt ids on the very first chunk only, and token ids with their text', () => {
  const chunks = chunksOf({ return_token_ids: true, n: 2 }, [
    events[0]!,
    events[1]!,
    delta(1, 'c', [9], { reason: 'stop', stopReason: 'END' }),
    events[2]!,
    events[3]!,
  ]);
  expect(chunks.map(chunk => chunk.prompt_token_ids)).toEqual([
    [1, 2, 3],
    null,
    undefined,
    undefined,
    undefined,
  ]);
  expect(chunks.map(chunk => chunk.choices[0]?.token_ids)).toEqual([undefined, undefined, [7], [9], [8, 2]]);
  expect(chunks.map(chunk => chunk.choices[0]?.index)).toEqual([0, 1, 0, 1, 0]);
  expect(chunks[3]?.choices[0]?.stop_reason).toBe('END');
});

it('sends the echoed text once per choice, between role and content, without ids', () => {
  const chunks = chunksOf({ return_token_ids: true }, events, 'prompt ');
  expect(chunks.map(chunk => chunk.choices[0]?.delta)).toEqual([
    { role: 'assistant', content: '' },
    { content: 'prompt ' },
    { content: 'a' },
    { content: 'b' },
  ]);
  expect(chunks[1]).toStrictEqual({
    ...shared,
    choices: [{ index: 0, delta: { content: 'prompt ' }, logprobs: null, finish_reason: null }],
  });
});

it('opens a search only when its answers are there', () => {
  const writer = writerOf({ n: 2, use_beam_search: true });
  const length: ChoiceFinish = { reason: 'length', stopReason: null };
  expect(writer.push(events[0]!)).toEqual([]);
  const seen = [delta(0, 'x', [7], length), delta(1, 'y', [7], length), events[3]!]
    .flatMap(event => writer.push(event))
    .map(
      chunk =>
        `${chunk.choices[0]?.index} ${chunk.choices[0]?.delta.content} ${chunk.choices[0]?.finish_reason}`,
    );
  expect(seen).toEqual(['0  null', '1  null', '0 x length', '1 y length']);
});

it('reports the stop reason of a choice that repeated itself', () => {
  const looped = delta(0, 'a', [7], { reason: 'repetition', stopReason: 'repetition_detected' });
  const chunks = chunksOf({}, [events[0]!, looped, events[3]!]);
  expect(chunks.at(-1)?.choices[0]).toMatchObject({
    finish_reason: 'repetition',
    stop_reason: 'repetition_detected',
  });
});

it('sends one tool call in each chunk, with text and ids in the first and the end in the last', () => {
  const called: ChoiceFinish = { reason: 'tool-calls', stopReason: null };
  const toolCalls = [
    { index: 0, start: { id: 'a', name: 'f' }, arguments: '' },
    { index: 0, arguments: '{}' },
    { index: 1, start: { id: 'b', name: 'g' }, arguments: '' },
  ];
  const event = { ...delta(0, 'Hm.', [7, 8], called), toolCalls } as GenerationEvent;
  const choices = chunksOf({ ...WITH_TOOLS, return_token_ids: true }, [event]).map(
    ({ choices }) => choices[0]!,
  );
  expect(choices).toEqual([
    {
      index: 0,
      delta: {
        content: 'Hm.',
        tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }],
      },
      logprobs: null,
      finish_reason: null,
      token_ids: [7, 8],
    },
    {
      index: 0,
      delta: { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
      logprobs: null,
      finish_reason: null,
      token_ids: [],
    },
    {
      index: 0,
      delta: {
        tool_calls: [{ index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: '' } }],
      },
      logprobs: null,
      finish_reason: 'tool_calls',
      stop_reason: null,
      token_ids: [],
    },
  ]);
});

describe('tokens whose text is a mark', () => {
  const called: ChoiceFinish = { reason: 'tool-calls', stopReason: null };
  const list = [
    events[0]!,
    delta(0, '', [7]),
    delta(0, 'a', [8]),
    delta(0, '', [9]),
    delta(0, '', [2], called),
  ];
  const deltasOf = (fields: object, canReason = false) => {
    const writer = writerOf({ stream_options: { continuous_usage_stats: true }, ...fields }, '', canReason);
    const chunks = list.flatMap(event => writer.push(event));
    return chunks.slice(1).map(({ choices, usage }) => [usage?.completion_tokens, choices[0]?.delta]);
  };

  it.each([
    ['calls', WITH_TOOLS, false],
    ['reasoning', {}, true],
  ])('are not chunks where %s are read, and counted with the next one', (_, fields, canReason) => {
    expect(deltasOf(fields, canReason)).toEqual([
      [2, { content: 'a' }],
      [4, {}],
    ]);
  });

  it('bring their ids and log probabilities where those were asked for', () => {
    const expected = [
      [1, {}],
      [2, { content: 'a' }],
      [3, {}],
      [4, {}],
    ];
    expect(deltasOf({ ...WITH_TOOLS, return_token_ids: true })).toEqual(expected);
    expect(deltasOf({ ...WITH_TOOLS, logprobs: true })).toEqual(expected);
  });

  it('are empty chunks without reasoning and tools, as every token is a chunk there', () => {
    expect(deltasOf({}).map(([, text]) => text)).toEqual([
      { content: '' },
      { content: 'a' },
      { content: '' },
      { content: '' },
    ]);
  });
});
