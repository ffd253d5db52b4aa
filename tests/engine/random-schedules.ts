// Random schedules on real graphs: requests, how a core plays them, and a core whose calls fail. Callers: property tests of the step loop.

import {
  createSlotsRunner,
  EngineCore,
  HostStepRunner,
  NEUTRAL_SAMPLING,
  readManifest,
  type SlotModelRunner,
  type SubmitMessage,
} from '@ortler/engine/testing';
import { selectBackend } from '@ortler/onnxruntime';
import fc from 'fast-check';
import { expect } from 'vitest';
import { RECKLESS_DRAFTER, SHORTEST_CACHES } from './random-requests.ts';

/** A request, and what befalls it. */
export interface RandomEntry {
  readonly atStep: number;
  /** When its first choice's reader falls behind, and for how many steps. */
  readonly pausedAtStep: number | null;
  readonly pauseLength: number;
  readonly submission: Omit<SubmitMessage, 'requestId'>;
}

type Requests = readonly RandomEntry[];

/** Requests and what befalls them. */
export const randomRequests = (
  prompts: fc.Arbitrary<Int32Array<ArrayBuffer>>,
  constraints: readonly NonNullable<SubmitMessage['constraint']>[] = [],
): fc.Arbitrary<RandomEntry[]> =>
  fc.array(
    fc
      .record({
        atStep: fc.nat({ max: 16 }),
        /** When its first choice's reader falls behind, and for how many steps. */
        pausedAtStep: fc.option(fc.nat({ max: 20 })),
        pauseLength: fc.integer({ min: 1, max: 10 }),
        promptTokenIds: prompts,
        choiceCount: fc.integer({ min: 1, max: 3 }),
        maxTokens: fc.integer({ min: 1, max: 16 }),
        temperature: fc.constantFrom(0, 0.8),
        seed: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
        priority: fc.integer({ min: 0, max: 2 }),
        constraint:
          constraints.length === 0
            ? fc.constant(null)
            : fc.option(fc.constantFrom(...constraints), { freq: 1 }),
      })
      .map(
        ({ promptTokenIds, choiceCount, maxTokens, temperature, seed, priority, constraint, ...when }) => ({
          ...when,
          submission: {
            kind: 'submit',
            promptTokenIds,
            choiceCount,
            sampling: { ...NEUTRAL_SAMPLING, temperature, topP: 0.95, topK: 40, seed },
            maxTokens,
            minTokens: 0,
            eosTokenIds: [],
            stopTokenIds: [],
            minTokensBannedIds: [],
            priority,
            ...(constraint !== null && { constraint }),
          } satisfies Omit<SubmitMessage, 'requestId'>,
        }),
      ),
    { minLength: 1, maxLength: 6 },
  );

/** The tokens of each choice, by `request/choice`. The bookkeeping must hold after every step. */
export async function play(core: EngineCore, entries: Requests): Promise<Map<string, number[]>> {
  const tokens = new Map<string, number[]>();
  const waiting = entries.map((entry, requestId) => ({ ...entry, requestId }));
  const lastPause = Math.max(...entries.map(entry => (entry.pausedAtStep ?? 0) + entry.pauseLength));
  for (let step = 0; waiting.length > 0 || core.hasWork || step <= lastPause; step++) {
    for (const { requestId, submission } of waiting.filter(entry => entry.atStep <= step))
      core.submit({ ...submission, requestId });
    waiting.splice(0, waiting.length, ...waiting.filter(entry => entry.atStep > step));
    for (const [requestId, { pausedAtStep, pauseLength }] of entries.entries()) {
      if (pausedAtStep === step) core.setPaused(requestId, 0, { isPaused: true });
      if (pausedAtStep !== null && pausedAtStep + pauseLength === step)
        core.setPaused(requestId, 0, { isPaused: false });
    }
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

/** Each choice as a request of its own, one at a time, in one chunk and without a cache. */
export async function playAlone(core: EngineCore, entries: Requests): Promise<Map<string, number[]>> {
  const tokens = new Map<string, number[]>();
  for (const [requestId, { submission }] of entries.entries()) {
    for (let choiceIndex = 0; choiceIndex < submission.choiceCount; choiceIndex++) {
      const seed = submission.sampling.seed + BigInt(choiceIndex);
      const sampling = { ...submission.sampling, seed };
      const alone = { ...submission, choiceCount: 1, sampling, priority: 0 };
      const entry = { atStep: 0, pausedAtStep: null, pauseLength: 1, submission: alone };
      tokens.set(`${requestId}/${choiceIndex}`, (await play(core, [entry])).get('0/0')!);
    }
  }
  return tokens;
}

/** A core whose model call fails now and then, after it has written its keys and values; never three times in a row. */
export async function createFailingCore(modelDir: string, contextLength: number): Promise<EngineCore> {
  const { backend } = await selectBackend('native');
  const runner = await createSlotsRunner(backend, modelDir, await readManifest(modelDir), {
    slotCount: 4,
    contextLength,
    ...SHORTEST_CACHES,
    threadCount: 1,
    spin: false,
  });
  let callCount = 0;
  const failing: SlotModelRunner = {
    cacheKind: 'slots',
    facts: runner.facts,
    rings: runner.rings,
    states: runner.states,
    async run(rows) {
      const logits = await runner.run(rows);
      callCount++;
      if (callCount % 4 < 2 && callCount % 3 !== 0) throw new Error('The call was told to fail.');
      return logits;
    },
    copySlot: (from, to, length) => runner.copySlot(from, to, length),
    swapSlots: (a, b, length) => runner.swapSlots(a, b, length),
    close: () => runner.close(),
  };
  return new EngineCore(new HostStepRunner(failing), {
    maxSequences: 3,
    prefillChunkLength: 11,
    maxQueuedSequences: 50,
    schedulingPolicy: 'priority',
    drafter: RECKLESS_DRAFTER,
  });
}
