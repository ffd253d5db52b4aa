// Reasoning through the whole engine: the format of the chat template, the marks split off, and the prompt that opens it.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GenerationRequest } from '../src/request/generation-request.ts';
import { choiceOf, collect, createScriptedEngine, echoText, type ScriptedEngine } from './scripted-engine.ts';

const ANSWER = '<think>so so</think>yes';
/** The model repeats the conversation. Only the comment shows the format. */
const TEMPLATE =
  "{% for message in messages %}{{ message.content }}{% endfor %}{{ '<|im_start|>' }}{# <think> #}";

const chat = (content: string): GenerationRequest => ({
  prompt: { messages: [{ role: 'user', content }] },
  sampling: { temperature: 0 },
});

describe('an engine whose chat template has a reasoning format', () => {
  let scripted: ScriptedEngine;
  beforeAll(async () => {
    scripted = await createScriptedEngine({ chatTemplate: TEMPLATE });
  });
  afterAll(() => scripted.close());

  test('reports the format', () => {
    expect(scripted.engine.info.reasoningFormat).toBe('think');
  });

  test('splits the reasoning from the text of a chat', async () => {
    const events = await collect(scripted.engine.generate(chat(ANSWER)));
    expect(choiceOf(events)).toMatchObject({
      reasoning: 'so so',
      text: 'yes',
      finish: { reason: 'stop', stopReason: null },
    });
    const deltas = events.filter(event => event.kind === 'token-delta');
    expect(deltas.some(({ isReasoning }) => isReasoning)).toBe(true);
    expect(deltas.at(-1)!.isReasoning).toBe(false);
  });

  test('splits the answers of a beam search', async () => {
    const beamSearch = { width: 1, lengthPenalty: 1 };
    const events = await collect(scripted.engine.generate({ ...chat(ANSWER), beamSearch }));
    expect(choiceOf(events)).toMatchObject({ reasoning: 'so so', text: 'yes' });
  });

  test('leaves the output of a prompt of tokens as it is', async () => {
    const events = await collect(scripted.engine.generate(await echoText(scripted.engine, ANSWER)));
    expect(choiceOf(events)).toMatchObject({ reasoning: '', text: ANSWER });
  });

  test('reports reasoning that was cut off as reasoning', async () => {
    const request = { ...chat(ANSWER), stop: { strings: ['</'] } };
    expect(choiceOf(await collect(scripted.engine.generate(request)))).toMatchObject({
      reasoning: 'so so',
      text: '',
      finish: { reason: 'stop', stopReason: '</' },
    });
  });
});

test('output is reasoning from its first token on where the prompt ends with the start mark', async () => {
  // The marker of the scripted model and the beginning of the answer, which the prompt gives already.
  const scripted = await createScriptedEngine({ chatTemplate: `${TEMPLATE}{{ '<think>' }}` });
  try {
    const events = await collect(scripted.engine.generate(chat(ANSWER)));
    expect(choiceOf(events)).toMatchObject({ reasoning: 'so so', text: 'yes' });
  } finally {
    await scripted.close();
  }
});

test.each([
  ['<think>so', { reasoning: ' so', text: 'yes' }],
  ['<think>so so</think>', { reasoning: '', text: 'yes' }],
])('an answer that continues %j has %j', async (begun, parts) => {
  const scripted = await createScriptedEngine({ chatTemplate: TEMPLATE });
  try {
    const messages = [{ role: 'assistant', content: `${ANSWER}<|im_start|>${begun}` }];
    const template = { addGenerationPrompt: false, continueFinalMessage: true };
    const request = { ...chat(''), prompt: { messages, template } } as const;
    expect(choiceOf(await collect(scripted.engine.generate(request)))).toMatchObject(parts);
  } finally {
    await scripted.close();
  }
});

test('reasoningParser none leaves marks and reasoning in the text', async () => {
  const scripted = await createScriptedEngine({ chatTemplate: TEMPLATE, reasoningParser: 'none' });
  try {
    expect(scripted.engine.info.reasoningFormat).toBeNull();
    const events = await collect(scripted.engine.generate(chat(ANSWER)));
    expect(choiceOf(events)).toMatchObject({ reasoning: '', text: ANSWER });
  } finally {
    await scripted.close();
  }
});
