import type { ChatChunk, CompletionChunk } from '@ortler/schemas';
import { describe, expect, it } from 'vitest';
import { AnswerReader } from './answer-reader.ts';

type Choice = ChatChunk['choices'][number];

function chatChunk(choice: Partial<Choice>, rest: Partial<ChatChunk> = {}): ChatChunk {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 0,
    model: 'demo',
    choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: null, ...choice }],
    ...rest,
  };
}

const logprobsOf = (token: string, logprob: number, others: readonly [string, number][] = []) => ({
  content: [
    {
      token,
      logprob,
      bytes: null,
      top_logprobs: [[token, logprob] as const, ...others].map(([text, value]) => ({
        token: text,
        logprob: value,
        bytes: null,
      })),
    },
  ],
});

describe('AnswerReader', () => {
  it('waits until the first text, and measures the time to it', () => {
    const reader = new AnswerReader(1000);
    reader.readChat(chatChunk({ delta: { role: 'assistant', content: '' } }), 1010);
    expect(reader.snapshot()).toMatchObject({ phase: 'waiting', firstTokenMs: null });
    reader.readChat(chatChunk({ delta: { content: 'Par' } }), 1025);
    reader.readChat(chatChunk({ delta: { content: 'is' }, finish_reason: 'stop' }), 1040);
    expect(reader.snapshot()).toMatchObject({ phase: 'streaming', content: 'Paris', firstTokenMs: 25 });
    reader.end('done', 1050);
    expect(reader.snapshot()).toMatchObject({ phase: 'done', finishReason: 'stop', durationMs: 50 });
  });

  it('reads one of several choices, without the usage that they share', () => {
    const reader = new AnswerReader(0, { index: 1, count: 2 });
    reader.readChat(chatChunk({ delta: { content: 'A' } }, { prompt_token_ids: [1] }), 1);
    reader.readChat(chatChunk({ index: 1, delta: { content: 'B' } }), 2);
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    reader.readChat(chatChunk({}, { choices: [], usage }), 3);
    expect(reader.snapshot()).toMatchObject({ content: 'B', promptTokenIds: [1], usage: null });
  });

  it.each([
    ['the token that ends an answer', '', { finish_reason: 'stop', stop_reason: null }, 'end'],
    ['a stop token of the request', '', { finish_reason: 'stop', stop_reason: 7 }, 'end'],
    ['the last token of a structured output', '</s>', { finish_reason: 'stop', stop_reason: null }, 'answer'],
    ['what a stop text has cut off', '', { finish_reason: 'stop', stop_reason: '</s>' }, 'answer'],
    ['the last token within the length', '', { finish_reason: 'length', stop_reason: null }, 'answer'],
  ] as const)('tells %s from the text', (_, content, ending, part) => {
    const reader = new AnswerReader(0);
    reader.readChat(chatChunk({ delta: { content: 'Yes' }, logprobs: logprobsOf('Yes', -1) }), 1);
    reader.readChat(chatChunk({ delta: { content }, logprobs: logprobsOf('</s>', -1), ...ending }), 2);
    expect(reader.snapshot().tokens.map(token => token.part)).toEqual(['answer', part]);
  });

  it('keeps reasoning apart, in text and in tokens', () => {
    const reader = new AnswerReader(0);
    reader.readChat(chatChunk({ delta: { reasoning: 'Hm' }, logprobs: logprobsOf('Hm', -1) }), 1);
    reader.readChat(chatChunk({ delta: { content: 'Yes' }, logprobs: logprobsOf('Yes', -0.5) }), 2);
    const { reasoning, content, tokens } = reader.snapshot();
    expect([reasoning, content]).toEqual(['Hm', 'Yes']);
    expect(tokens.map(({ part }) => part)).toEqual(['reasoning', 'answer']);
  });

  it('gives each token its id and its candidates, also where ids come later', () => {
    const reader = new AnswerReader(0);
    const logprobs = logprobsOf('Paris', -0.1, [['Rome', -2.5]]);
    reader.readChat(chatChunk({ delta: { content: 'Paris' }, logprobs }, { prompt_token_ids: [1, 2] }), 1);
    expect(reader.snapshot().tokens[0]!.id).toBe(null);
    reader.readChat(chatChunk({ token_ids: [17] }), 2);
    expect(reader.snapshot()).toMatchObject({
      promptTokenIds: [1, 2],
      tokens: [
        {
          id: 17,
          text: 'Paris',
          candidates: [
            { text: 'Paris', logprob: -0.1 },
            { text: 'Rome', logprob: -2.5 },
          ],
        },
      ],
    });
  });

  it('keeps the object of a token that has not changed, by which views know it', () => {
    const reader = new AnswerReader(0);
    const read = (text: string, ids: readonly number[]) =>
      reader.readChat(
        chatChunk({ delta: { content: text }, logprobs: logprobsOf(text, -1), token_ids: [...ids] }),
        1,
      );
    read('a', [1]);
    read('b', []);
    const [known, open] = reader.snapshot().tokens;
    read('c', [2]);
    const tokens = reader.snapshot().tokens;
    expect(tokens[0]).toBe(known);
    expect([open!.id, tokens[1]!.id]).toEqual([null, 2]);
  });

  it('lists the tool calls of servers that count them from 1 and begin them without arguments', () => {
    const reader = new AnswerReader(0);
    const call = (piece: object) => chatChunk({ delta: { tool_calls: [piece as never] } });
    reader.readChat(call({ index: 1, id: 'c1', function: { name: 'sum' } }), 1);
    reader.readChat(call({ index: 1, function: { arguments: '{}' } }), 2);
    expect(reader.snapshot().toolCalls).toEqual([{ id: 'c1', name: 'sum', arguments: '{}' }]);
  });

  it('joins the pieces of tool calls', () => {
    const reader = new AnswerReader(0);
    const call = (piece: object) => chatChunk({ delta: { tool_calls: [piece as never] } });
    reader.readChat(call({ index: 0, id: 'c1', function: { name: 'sum', arguments: '{"a"' } }), 1);
    reader.readChat(call({ index: 0, function: { arguments: ':1}' } }), 2);
    expect(reader.snapshot().toolCalls).toEqual([{ id: 'c1', name: 'sum', arguments: '{"a":1}' }]);
  });

  it('goes on from tokens that are there, and keeps text after a failure', () => {
    const beginning = { text: 'The', logprob: -1, id: 5, part: 'answer' as const, candidates: [] };
    const reader = new AnswerReader(0);
    reader.begin({ content: 'The', reasoning: '', promptTokenIds: [1], tokens: [beginning] });
    const chunk: CompletionChunk = {
      id: 'cmpl-1',
      object: 'text_completion',
      created: 0,
      model: 'demo',
      usage: null,
      choices: [
        {
          index: 0,
          text: ' end',
          finish_reason: null,
          stop_reason: null,
          prompt_token_ids: [1, 5],
          token_ids: [6],
          logprobs: {
            tokens: [' end'],
            token_logprobs: [-0.25],
            text_offset: [0],
            top_logprobs: [{ ' end': -0.25, ' cat': -3 }],
          },
        },
      ],
    };
    reader.readCompletion(chunk, 3);
    reader.end('failed', 4, 'The server does not answer.');
    expect(reader.snapshot()).toMatchObject({
      content: 'The end',
      promptTokenIds: [1],
      error: 'The server does not answer.',
      tokens: [
        { id: 5, text: 'The' },
        { id: 6, text: ' end', logprob: -0.25, candidates: [{ text: ' end' }, { text: ' cat' }] },
      ],
    });
  });
});
