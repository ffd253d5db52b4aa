// The step loop on a real graph: what a sequence says must not depend on its company, the chunks of its prompt
// or the binding. The seed of the generator is fixed: sums in another order may differ in the last bit, and a
// draw that hits exactly such a bit would be no error of the loop.

import { type EngineCore, loadCore, NEUTRAL_SAMPLING, type SubmitMessage } from '@ortler/engine/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTinyModelFolder, type TinyModelFolder } from './tiny-model-folder.ts';

const CONTEXT_LENGTH = 48;

const requests = fc.array(
  fc
    .record({
      atStep: fc.nat({ max: 10 }),
      prompt: fc.array(fc.nat({ max: 287 }), { minLength: 1, maxLength: 24 }),
      choiceCount: fc.integer({ min: 1, max: 3 }),
      maxTokens: fc.integer({ min: 1, max: 16 }),
      temperature: fc.constantFrom(0, 0.8),
      seed: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
    })
    .map(entry => ({
      atStep: entry.atStep,
      submission: {
        kind: 'submit',
        promptTokenIds: Int32Array.from(entry.prompt),
        choiceCount: entry.choiceCount,
        sampling: {
          ...NEUTRAL_SAMPLING,
          temperature: entry.temperature,
          topP: 0.95,
          topK: 40,
          seed: entry.seed,
        },
        maxTokens: entry.maxTokens,
        minTokens: 0,
        eosTokenIds: [],
        stopTokenIds: [],
        minTokensBannedIds: [],
      } satisfies Omit<SubmitMessage, 'requestId'>,
    })),
  { minLength: 1, maxLength: 6 },
);

type Requests = typeof requests extends fc.Arbitrary<infer Value> ? Value : never;

async function play(core: EngineCore, entries: Requests): Promise<Map<string, number[]>> {
  const tokens = new Map<string, number[]>();
  const waiting = entries.map((entry, requestId) => ({ ...entry, requestId }));
  for (let step = 0; waiting.length > 0 || core.hasWork; step++) {
    for (const { requestId, submission } of waiting.filter(entry => entry.atStep <= step))
      core.submit({ ...submission, requestId });
    waiting.splice(0, waiting.length, ...waiting.filter(entry => entry.atStep > step));
    for (const output of await core.step()) {
      if (output.kind !== 'step') throw new Error(`${output.kind}: ${output.message}`);
      for (const update of output.updates) {
        const key = `${update.requestId}/${update.choiceIndex}`;
        tokens.set(key, [...(tokens.get(key) ?? []), ...update.tokenIds]);
      }
    }
    expect(core.findViolations()).toEqual([]);
  }
  expect(core.stats.freeSlotCount).toBe(core.facts.maxSequences);
  return tokens;
}

/** Each choice as a request of its own, one at a time. */
async function playAlone(core: EngineCore, entries: Requests): Promise<Map<string, number[]>> {
  const tokens = new Map<string, number[]>();
  for (const [requestId, { submission }] of entries.entries()) {
    for (let choiceIndex = 0; choiceIndex < submission.choiceCount; choiceIndex++) {
      const seed = submission.sampling.seed + BigInt(choiceIndex);
      const sampling = { ...submission.sampling, seed };
      const entry = { atStep: 0, submission: { ...submission, choiceCount: 1, sampling } };
      tokens.set(`${requestId}/${choiceIndex}`, (await play(core, [entry])).get('0/0')!);
    }
  }
  return tokens;
}

describe('EngineCore on the tiny model', () => {
  let folder: TinyModelFolder;
  let alone: EngineCore;
  const cores: EngineCore[] = [];

  beforeAll(async () => {
    folder = await createTinyModelFolder('f32');
    const load = (backend: 'native' | 'node', maxSequences: number, prefillChunkLength: number) =>
      loadCore({
        modelDir: folder.dir,
        device: 'cpu',
        backend,
        threadCount: 1,
        maxSequences,
        contextLength: CONTEXT_LENGTH,
        prefillChunkLength,
        maxQueuedSequences: 50,
      });
    alone = await load('node', 1, CONTEXT_LENGTH);
    cores.push(await load('native', 4, 7), await load('native', 2, 64), await load('node', 3, 5));
  });

  afterAll(async () => {
    for (const core of [alone, ...cores]) await core.close();
    await folder.remove();
  });

  it('says the same in any batch, with any chunks, through any binding, as each choice alone', async () => {
    await fc.assert(
      fc.asyncProperty(requests, async entries => {
        const expected = await playAlone(alone, entries);
        for (const core of cores) expect(await play(core, entries)).toEqual(expected);
      }),
      { numRuns: 30, seed: 20_261_120 },
    );
  });
});
