// The four calls over an engine that yields given events. The demo model answers them in tests/ortler.

import type { Engine, GenerationEvent, GenerationRequest } from '@ortler/engine';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Model } from './model.ts';

type Delta = Extract<GenerationEvent, { readonly kind: 'token-delta' }>;

const USAGE = { promptTokenCount: 4, completionTokenCount: 3, cachedTokenCount: 0 };

function delta(text: string, fields: Partial<Delta> = {}): Delta {
  return {
    kind: 'token-delta',
    choiceIndex: 0,
    text,
    reasoning: '',
    isReasoning: false,
    tokenIds: [1],
    finish: null,
    ...fields,
  };
}

function modelOf(...deltas: readonly Delta[]) {
  const calls: { request: GenerationRequest; signal: AbortSignal | undefined }[] = [];
  const engine = {
    async *generate(request: GenerationRequest, { signal }: { signal?: AbortSignal } = {}) {
      calls.push({ request, signal });
      yield { kind: 'prompt-ready', promptTokenIds: [1, 2, 3, 4], cachedTokenCount: 0 };
      yield* deltas;
      yield { kind: 'request-finish', usage: USAGE };
    },
  } as unknown as Engine;
  return { model: new Model(engine), calls };
}

async function collect(pieces: AsyncIterable<string>): Promise<string[]> {
  const collected: string[] = [];
  for await (const piece of pieces) collected.push(piece);
  return collected;
}

const STOP = { reason: 'stop', stopReason: null } as const;

describe('textStream', () => {
  it('yields the answer without its reasoning and without empty pieces', async () => {
    const { model } = modelOf(
      delta('', { reasoning: 'Let me see.', isReasoning: true }),
      delta('Par'),
      delta('is.', { finish: STOP }),
    );
    expect(await collect(model.textStream('?'))).toEqual(['Par', 'is.']);
  });

  it('hands the signal to the engine', async () => {
    const { model, calls } = modelOf(delta('', { finish: STOP }));
    const { signal } = new AbortController();
    await collect(model.textStream('?', { signal, maxTokens: 3 }));
    expect(calls[0]).toMatchObject({ signal, request: { stop: { maxTokens: 3 } } });
    expect(calls[0]!.request).not.toHaveProperty('signal');
  });
});

describe('generateText', () => {
  it('joins text and reasoning, and gives usage and end', async () => {
    const { model } = modelOf(
      delta('', { reasoning: 'Let me ' }),
      delta('Par', { reasoning: 'see.' }),
      delta('is.', { finish: { reason: 'stop', stopReason: 'END' } }),
    );
    expect(await model.generateText('?')).toEqual({
      text: 'Paris.',
      toolCalls: [],
      message: { role: 'assistant', content: 'Paris.' },
      reasoning: 'Let me see.',
      usage: USAGE,
      finishReason: 'stop',
      stopReason: 'END',
      logprobs: [],
    });
  });
});

describe('generateText with tools', () => {
  const start = { id: 'call_1', name: 'clock' };
  const tools = { definitions: [{ name: 'clock' }], choice: 'required' } as const;

  it('hands the tools to the engine, and gives the calls and the message to go on with', async () => {
    const { model, calls } = modelOf(
      delta('', { toolCalls: [{ index: 0, start, arguments: '{"zone"' }] }),
      delta('', {
        toolCalls: [
          { index: 0, arguments: ':"CET"}' },
          { index: 1, start: { id: 'call_2', name: 'clock' }, arguments: '{}' },
        ],
        finish: { reason: 'tool-calls', stopReason: null },
      }),
    );
    const { toolCalls, message } = await model.generateText('?', { tools });
    expect(calls[0]!.request.tools).toEqual(tools);
    expect(toolCalls).toEqual([
      { id: 'call_1', name: 'clock', arguments: '{"zone":"CET"}' },
      { id: 'call_2', name: 'clock', arguments: '{}' },
    ]);
    expect(message.tool_calls?.[0]).toEqual({
      id: 'call_1',
      type: 'function',
      function: { name: 'clock', arguments: { zone: 'CET' } },
    });
  });

  it('gives a call that was cut off, but no message with it', async () => {
    const { model } = modelOf(
      delta('', {
        toolCalls: [{ index: 0, start, arguments: '{"zo' }],
        finish: { reason: 'length', stopReason: null },
      }),
    );
    const { toolCalls, message } = await model.generateText('?', { tools });
    expect(toolCalls).toEqual([{ ...start, arguments: '{"zo' }]);
    expect(message).toEqual({ role: 'assistant', content: '' });
  });
});

describe('generateObject', () => {
  const person = z.object({ name: z.string(), age: z.int() }).refine(({ age }) => age < 200, 'too old');

  it('holds the answer to the schema and gives its value', async () => {
    const { model, calls } = modelOf(delta('{"name":"Ada",'), delta('"age":36}', { finish: STOP }));
    const { object, text } = await model.generateObject(person, 'Who?');
    const age: number = object.age;
    expect(age).toBe(36);
    expect(text).toBe('{"name":"Ada","age":36}');
    expect(calls[0]!.request.constraint).toMatchObject({ jsonSchema: { type: 'object' } });
  });

  it('says that an answer was cut off', async () => {
    const { model } = modelOf(delta('{"name":', { finish: { reason: 'length', stopReason: null } }));
    await expect(model.generateObject(person, 'Who?')).rejects.toMatchObject({
      name: 'ObjectError',
      code: 'truncated',
      text: '{"name":',
      finishReason: 'length',
    });
  });

  it.each(['age', 7])('says that a stop string or a stop token cut the answer off: %j', async stopReason => {
    const { model } = modelOf(delta('{"name":', { finish: { reason: 'stop', stopReason } }));
    await expect(model.generateObject(person, 'Who?')).rejects.toMatchObject({
      name: 'ObjectError',
      code: 'truncated',
      message: `The answer ended before its object (stop: ${stopReason}).`,
    });
  });

  it('takes what a stop string left for cut off, also where that is JSON', async () => {
    const { model } = modelOf(delta('12', { finish: { reason: 'stop', stopReason: '3' } }));
    await expect(model.generateObject(z.int(), 'How many?')).rejects.toMatchObject({ code: 'truncated' });
  });

  it('says which rule beyond JSON Schema an object breaks', async () => {
    const { model } = modelOf(delta('{"name":"Methuselah","age":969}', { finish: STOP }));
    await expect(model.generateObject(person, 'Who?')).rejects.toMatchObject({
      code: 'invalid',
      message: 'The object does not satisfy its schema: too old.',
    });
  });
});
