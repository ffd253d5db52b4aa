// Effects of sampling parameters on the events, over a scripted model in this thread.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TokenLogprob } from '../src/request/generation-event.ts';
import type { GenerationRequest } from '../src/request/generation-request.ts';
import type { LinkedEngine } from '../src/text-side/linked-engine.ts';
import { choiceOf, collect, createScriptedEngine, echoText, type ScriptedEngine } from './scripted-engine.ts';

const END_OF_TEXT = 0;
const [X, Y] = [40, 41];

let scripted: ScriptedEngine;
let engine: LinkedEngine;
beforeAll(async () => {
  scripted = await createScriptedEngine();
  engine = scripted.engine;
});
afterAll(() => scripted.close());

const generate = async (changes: Partial<GenerationRequest>, text = 'Hello') =>
  collect(engine.generate(await echoText(engine, text, changes)));

const only = (...allowedTokenIds: number[]) => ({ temperature: 0, allowedTokenIds });

describe('tokens', () => {
  test('are none but the allowed ones', async () => {
    const { tokenIds, finish } = choiceOf(await generate({ sampling: only(X), stop: { maxTokens: 3 } }));
    expect(tokenIds).toEqual([X, X, X]);
    expect(finish).toEqual({ reason: 'length', stopReason: null });
  });

  test('follow a bias, also when greedy', async () => {
    const sampling = { temperature: 0, logitBias: [{ tokenId: X, bias: 1000 }] };
    expect(choiceOf(await generate({ sampling, stop: { maxTokens: 2 } })).tokenIds).toEqual([X, X]);
  });

  test('do not end an answer before the minimum', async () => {
    const stop = { minTokens: 3, maxTokens: 5 };
    const { tokenIds } = choiceOf(await generate({ sampling: only(END_OF_TEXT, X), stop }));
    expect(tokenIds.slice(0, 3)).toEqual([X, X, X]);
  });

  test('never complete a bad word, with and without its space', async () => {
    const text = 'one two, one';
    const said = choiceOf(await generate({ badWords: ['one'], stop: { maxTokens: 8 } }, text));
    expect(said.text).not.toContain('one');
    expect(choiceOf(await generate({ badWords: ['three'] }, text)).text).toBe(text);
  });

  test('end at a loop, whose tokens stay, unless the length or the minimum says otherwise', async () => {
    const run = async (minPatternSize: number, maxPatternSize: number, minCount: number, stop = {}) =>
      choiceOf(
        await generate({
          sampling: only(X),
          stop: { maxTokens: 10, ...stop },
          repetitionDetection: { minPatternSize, maxPatternSize, minCount },
        }),
      );
    const found = { reason: 'repetition', stopReason: 'repetition_detected' };
    expect(await run(0, 1, 3)).toMatchObject({ tokenIds: [X, X, X], finish: found });
    expect(await run(2, 2, 2)).toMatchObject({ tokenIds: [X, X, X, X], finish: found });
    expect((await run(2, 2, 2, { minTokens: 6 })).tokenIds).toHaveLength(6);
    expect((await run(0, 1, 3, { maxTokens: 3 })).finish?.reason).toBe('length');
  });
});

describe('settings that leave no token are refused before any event', () => {
  const cases: readonly (readonly [string, Partial<GenerationRequest>])[] = [
    ['ends alone below the minimum', { sampling: only(END_OF_TEXT), stop: { minTokens: 1 } }],
    ['bad words alone', { sampling: only(X), badWords: ['F'] }],
    ['a bad word and an end', { sampling: only(END_OF_TEXT, X), badWords: ['F'], stop: { minTokens: 1 } }],
  ];
  test.each(cases)('%s', async (_, changes) => {
    expect(engine.decode([X])).toBe('F');
    await expect(generate(changes)).rejects.toMatchObject({
      code: 'invalid_request',
      parameter: 'sampling.allowedTokenIds',
    });
  });
});

describe('log probabilities', () => {
  const entriesOf = async (changes: Partial<GenerationRequest>, text?: string) => {
    const events = await generate({ logprobs: { topCount: 2 }, ...changes }, text);
    return events.flatMap((event): readonly TokenLogprob[] =>
      event.kind === 'token-delta' ? (event.logprobs ?? []) : [],
    );
  };

  test('come one for each token, the end of sequence included, with text and bytes', async () => {
    const events = await generate({ logprobs: { topCount: 2 } });
    const { tokenIds } = choiceOf(events);
    const entries = await entriesOf({});
    expect(entries.map(({ tokenId }) => tokenId)).toEqual(tokenIds);
    for (const entry of entries) {
      expect(entry.text).toBe(engine.decode([entry.tokenId]));
      expect(new TextDecoder().decode(entry.bytes)).toBe(entry.text);
      expect(entry.top).toHaveLength(2);
      expect(entry.top[0]).toMatchObject({ tokenId: entry.tokenId, logprob: entry.logprob, rank: 1 });
    }
  });

  test('stop with the token that completed a stop string', async () => {
    const text = 'one two three';
    const stop = { strings: ['two'] };
    const { tokenIds } = choiceOf(await generate({ stop }, text));
    expect(await entriesOf({ stop }, text)).toHaveLength(tokenIds.length);
  });

  test('are those of the model, whatever the settings', async () => {
    const first = async (sampling: GenerationRequest['sampling']) =>
      (await entriesOf({ sampling: { ...sampling, allowedTokenIds: [Y] }, stop: { maxTokens: 1 } }))[0]!;
    const entry = await first({ temperature: 0.1 });
    expect(await first({ temperature: 2, repetitionPenalty: 2 })).toEqual(entry);
    expect(entry.logprob).toBeLessThan(-1);
    expect(entry.rank).toBeGreaterThan(1);
  });

  test('of merged deltas are all there for a slow reader', async () => {
    const request = await echoText(engine, 'one two three four', { logprobs: { topCount: 0 } });
    const events = [];
    for await (const event of engine.generate(request)) {
      events.push(event);
      if (events.length === 2) await new Promise(resolve => setTimeout(resolve, 50));
    }
    const { tokenIds } = choiceOf(events);
    const entries = events.flatMap(event => ('logprobs' in event ? (event.logprobs ?? []) : []));
    expect(entries.map(({ tokenId }) => tokenId)).toEqual(tokenIds);
    expect(entries.every(({ top }) => top.length === 0)).toBe(true);
  });

  test('of the prompt come with the prompt, null first, and only when asked for', async () => {
    const [ready] = await generate({ promptLogprobs: { topCount: 1 } }, 'one two three');
    if (ready?.kind !== 'prompt-ready') throw new Error('The first event is the prompt.');
    const { promptTokenIds, promptLogprobs = [] } = ready;
    expect(promptLogprobs.map(entry => entry?.tokenId ?? null)).toEqual([null, ...promptTokenIds.slice(1)]);
    expect(promptLogprobs[1]?.top).toHaveLength(1);
    expect(promptLogprobs[1]?.text).toBe(engine.decode([promptTokenIds[1]!]));
    expect((await generate({}))[0]).not.toHaveProperty('promptLogprobs');
  });
});
