// Options that change the prompt of a request or what of the answer is shown, through the whole text side.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { GenerationRequest } from '../src/request/generation-request.ts';
import { choiceOf, collect, createScriptedEngine, echoText, type ScriptedEngine } from './scripted-engine.ts';

let scripted: ScriptedEngine;
beforeAll(async () => {
  scripted = await createScriptedEngine();
});
afterAll(() => scripted.close());

async function promptOf(request: GenerationRequest): Promise<readonly number[]> {
  for await (const event of scripted.engine.generate(request)) {
    if (event.kind === 'prompt-ready') return event.promptTokenIds;
  }
  throw new Error('The prompt never came.');
}

const LONG = 'one two three four '.repeat(200);

test('a truncated prompt is the end of the whole one, also when the whole one cannot fit', async () => {
  const { engine } = scripted;
  const whole = await engine.encode(LONG);
  expect(whole.length).toBeGreaterThan(engine.info.contextLength);
  const prompt = { text: LONG, addSpecialTokens: false } as const;
  const stop = { maxTokens: 2 };
  const { contextLength } = engine.info;
  expect(await promptOf({ prompt, stop, truncatePromptTokens: 3 })).toEqual(whole.slice(-3));
  expect(await promptOf({ prompt, stop, truncatePromptTokens: -1 })).toEqual(whole.slice(2 - contextLength));
  await expect(promptOf({ prompt, stop })).rejects.toMatchObject({ code: 'prompt_too_long' });
  await expect(promptOf({ prompt, stop, truncatePromptTokens: contextLength - 1 })).rejects.toMatchObject({
    code: 'invalid_request',
    parameter: 'truncatePromptTokens',
  });
});

test('an open last message ends the prompt', async () => {
  const messages = [{ role: 'assistant', content: 'Hello wor' }];
  const template = { addGenerationPrompt: false, continueFinalMessage: true };
  expect(await scripted.engine.renderChat(messages, template)).toBe('Hello wor');
});

test('special tokens are shown where they are asked for, and left out otherwise', async () => {
  const text = 'a<|im_end|>b';
  const answer = async (more: Partial<GenerationRequest>) =>
    choiceOf(
      await collect(
        scripted.engine.generate(
          await echoText(scripted.engine, text, { stop: { ignoreEos: true, maxTokens: 3 }, ...more }),
        ),
      ),
    ).text;
  expect(await answer({})).toBe('ab');
  expect(await answer({ skipSpecialTokens: false })).toBe(text);
});
