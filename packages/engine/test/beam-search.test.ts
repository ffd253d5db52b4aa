// Beam search from request to events, over a scripted model in this thread: what it asks, what it gives, and that
// other requests and small queues do not disturb it. The search itself:
// src/text-side/beam/beam-search.property.test.ts.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TokenDeltaEvent } from '../src/request/generation-event.ts';
import type { GenerationRequest } from '../src/request/generation-request.ts';
import { readTokenLogprobs } from '../src/testing/read-token-logprobs.ts';
import { scriptedLogits } from '../src/testing/scripted-model.ts';
import { BeamSearch, stepsOf } from '../src/text-side/beam/beam-search.ts';
import { choiceOf, collect, createScriptedEngine, type ScriptedEngine } from './scripted-engine.ts';

const VOCAB_SIZE = 600;
const END_OF_TEXT = 0;
const PROMPT = [40, 41, 42];

/** The scripted model's logits with an end that is about as probable as any other token. */
const logitsAfter = (tokenIds: Int32Array) => scriptedLogits([...tokenIds], VOCAB_SIZE, { peak: 0 });

let scripted: ScriptedEngine;
beforeAll(async () => {
  scripted = await createScriptedEngine({ peak: 0 });
});
afterAll(() => scripted.close());

const generate = (request: Partial<GenerationRequest>, { engine } = scripted) =>
  collect(engine.generate({ prompt: { tokenIds: PROMPT }, ...request }));

const answers = (events: Awaited<ReturnType<typeof generate>>): readonly TokenDeltaEvent[] =>
  events.filter(event => event.kind === 'token-delta');

/** The answers by the search alone, over the same logits. */
function answersOf(width: number, maxTokens: number) {
  const search = new BeamSearch({
    promptTokenIds: Int32Array.from(PROMPT),
    width,
    lengthPenalty: 1,
    maxTokens,
    eosTokenId: END_OF_TEXT,
    ignoreEos: false,
    keepsEos: false,
  });
  while (!search.isDone) {
    search.advance(
      search.liveBeams.map(({ tokenIds }) =>
        readTokenLogprobs(logitsAfter(tokenIds), 0, search.candidateCount),
      ),
    );
  }
  return search.answers();
}

describe('a beam search', () => {
  test('gives the prompt, each answer whole, best first, and the usage', async () => {
    const width = 3;
    const beamSearch = { width, lengthPenalty: 1 };
    const events = await generate({ beamSearch, stop: { maxTokens: 6 } });
    expect(events.map(({ kind }) => kind)).toEqual([
      'prompt-ready',
      ...Array(width).fill('token-delta'),
      'request-finish',
    ]);
    const expected = answersOf(width, 6);
    for (const [index, event] of answers(events).entries()) {
      const tokenIds = [...expected[index]!.tokenIds.subarray(PROMPT.length)];
      expect(event).toEqual({
        kind: 'token-delta',
        choiceIndex: index,
        text: scripted.engine.decode(tokenIds, { skipSpecialTokens: true }),
        reasoning: '',
        isReasoning: false,
        tokenIds,
        finish: { reason: 'length', stopReason: null },
      });
    }
    expect(events.at(-1)).toMatchObject({ usage: { promptTokenCount: 3, completionTokenCount: 18 } });
  });

  test('reports the log probabilities of its steps, as many candidates as were asked for', async () => {
    for (const topCount of [0, 3, 12]) {
      const events = await generate({
        beamSearch: { width: 2, lengthPenalty: 1 },
        stop: { maxTokens: 4 },
        logprobs: { topCount },
      });
      const expected = answersOf(2, 4);
      for (const [index, { logprobs = [] }] of answers(events).entries()) {
        const steps = stepsOf(expected[index]!);
        expect(logprobs.map(({ tokenId, logprob, rank }) => ({ tokenId, logprob, rank }))).toEqual(
          steps.map(({ tokenId, logprob, rank }) => ({ tokenId, logprob, rank })),
        );
        expect(logprobs.every(({ top }) => top.length === topCount)).toBe(true);
      }
    }
  });

  test('ends a beam at the end of sequence with its id, kept only when asked for and never in the text', async () => {
    const ending = await createScriptedEngine();
    try {
      const prompt = { tokenIds: [40, 41, 1] } as const;
      const beamSearch = { width: 1, lengthPenalty: 1 };
      for (const includeInOutput of [false, true]) {
        const request = { prompt, beamSearch, stop: { maxTokens: 9, includeInOutput } };
        const { text, tokenIds, finish } = choiceOf(await collect(ending.engine.generate(request)));
        expect(tokenIds).toEqual(includeInOutput ? [40, 41, END_OF_TEXT] : [40, 41]);
        expect(text).toBe(ending.engine.decode([40, 41]));
        expect(finish).toEqual({ reason: 'stop', stopReason: END_OF_TEXT });
      }
      const stop = { maxTokens: 5, ignoreEos: true };
      const going = choiceOf(await collect(ending.engine.generate({ prompt, beamSearch, stop })));
      expect(going).toMatchObject({ finish: { reason: 'length' }, tokenIds: [40, 41, 0, 0, 0] });
    } finally {
      await ending.close();
    }
  });

  test('is not touched by sampling settings', async () => {
    const search = { beamSearch: { width: 2, lengthPenalty: 1 }, stop: { maxTokens: 4 } };
    const plain = await generate(search);
    const [best] = answers(plain);
    const changed = await generate({
      ...search,
      stop: { maxTokens: 4, minTokens: 9, strings: [best!.text], tokenIds: [best!.tokenIds[0]!] },
      sampling: {
        temperature: 0,
        seed: 3n,
        repetitionPenalty: 2,
        allowedTokenIds: [7],
        logitBias: [{ tokenId: 8, bias: 50 }],
      },
      badWords: ['a'],
      repetitionDetection: { minPatternSize: 0, maxPatternSize: 1, minCount: 2 },
      promptLogprobs: { topCount: 1 },
    });
    expect(changed).toEqual(plain);
  });

  test('gives the same beside other requests, in few slots and with a short queue', async () => {
    const small = await createScriptedEngine({
      peak: 0,
      core: { maxSequences: 2, tuning: { maxQueuedSequences: 1 } },
    });
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 5 }),
          fc.integer({ min: 1, max: 5 }),
          async (width, maxTokens) => {
            const search = { beamSearch: { width, lengthPenalty: 1 }, stop: { maxTokens } };
            const [other, beams] = await Promise.all([
              generate({ sampling: { temperature: 0 }, stop: { maxTokens: 20 } }, small),
              generate(search, small),
            ]);
            expect(beams).toEqual(await generate(search));
            expect(choiceOf(other).tokenIds).toHaveLength(20);
          },
        ),
        { numRuns: 10 },
      );
    } finally {
      await small.close();
    }
  });

  test('keeps its place in the queue: later requests do not delay its steps', async () => {
    const single = await createScriptedEngine({
      peak: 0,
      core: { maxSequences: 1, tuning: { maxQueuedSequences: 12 } },
    });
    try {
      const ended: string[] = [];
      const beamSearch = { width: 2, lengthPenalty: 1 };
      const note = (name: string) => () => void ended.push(name);
      const later = { sampling: { temperature: 0 }, stop: { maxTokens: 8, ignoreEos: true } };
      await Promise.all([
        generate({ beamSearch, stop: { maxTokens: 3, ignoreEos: true } }, single).then(note('search')),
        ...Array.from({ length: 8 }, () => generate(later, single).then(note('later'))),
      ]);
      expect(ended).toHaveLength(9);
      expect(ended.at(-1)).toBe('later');
    } finally {
      await single.close();
    }
  });

  test('ends at once when the signal fires', async () => {
    const controller = new AbortController();
    const { engine } = scripted;
    const events = engine.generate(
      {
        prompt: { tokenIds: PROMPT },
        beamSearch: { width: 2, lengthPenalty: 1 },
        stop: { maxTokens: 200, ignoreEos: true },
      },
      { signal: controller.signal },
    );
    const read = (async () => {
      for await (const event of events) if (event.kind === 'prompt-ready') controller.abort();
    })();
    await expect(read).rejects.toMatchObject({ code: 'aborted' });
    await generate({ stop: { maxTokens: 1 } });
    expect(engine.health.stats.runningCount).toBe(0);
  });
});
