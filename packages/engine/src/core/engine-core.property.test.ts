import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SubmitMessage } from '../link/messages.ts';
import { NEUTRAL_SAMPLING } from '../request/sampling-params.ts';
import { ScriptedModel, scriptedLogits } from '../testing/scripted-model.ts';
import { EngineCore } from './engine-core.ts';
import { counterKey } from './sampling/counter-random.ts';
import { createLogitsProcessors } from './sampling/logits-processor.ts';
import { Sampler } from './sampling/sampler.ts';
import { TokenCounts } from './sampling/token-counts.ts';

const VOCAB_SIZE = 24;
const EOS_TOKEN_ID = 3;

interface Arrival {
  readonly atStep: number;
  readonly request: SubmitMessage;
  /** Step while or after which the request, or one choice of it, is aborted. */
  readonly abortedAtStep: number | null;
  readonly abortedChoice: number | null;
  readonly isAbortedInFlight: boolean;
}

const arrivals = fc
  .array(
    fc.record({
      atStep: fc.nat({ max: 12 }),
      prompt: fc.array(fc.nat({ max: VOCAB_SIZE - 1 }), { minLength: 1, maxLength: 20 }),
      choiceCount: fc.integer({ min: 1, max: 3 }),
      maxTokens: fc.integer({ min: 1, max: 12 }),
      minTokens: fc.nat({ max: 3 }),
      temperature: fc.constantFrom(0, 0.7, 1.5),
      topK: fc.constantFrom(0, 5),
      topP: fc.constantFrom(1, 0.8),
      frequencyPenalty: fc.constantFrom(0, 0, 1.5),
      repetitionPenalty: fc.constantFrom(1, 1, 1.7),
      badTokenSequences: fc.constantFrom([], [[5], [6, 7]]),
      topLogprobCount: fc.constantFrom(null, 0, 4),
      seed: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      abortedAtStep: fc.option(fc.nat({ max: 20 }), { freq: 3 }),
      abortedChoice: fc.option(fc.nat({ max: 2 })),
      isAbortedInFlight: fc.boolean(),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map(entries =>
    entries.map(
      (entry, requestId): Arrival => ({
        atStep: entry.atStep,
        abortedAtStep: entry.abortedAtStep,
        abortedChoice: entry.abortedChoice,
        isAbortedInFlight: entry.isAbortedInFlight,
        request: {
          kind: 'submit',
          requestId,
          promptTokenIds: Int32Array.from(entry.prompt),
          choiceCount: entry.choiceCount,
          sampling: {
            ...NEUTRAL_SAMPLING,
            temperature: entry.temperature,
            topK: entry.topK,
            topP: entry.topP,
            minP: 0,
            frequencyPenalty: entry.frequencyPenalty,
            repetitionPenalty: entry.repetitionPenalty,
            seed: entry.seed,
          },
          maxTokens: entry.maxTokens,
          minTokens: entry.minTokens,
          eosTokenIds: [EOS_TOKEN_ID],
          stopTokenIds: [],
          minTokensBannedIds: [EOS_TOKEN_ID],
          badTokenSequences: entry.badTokenSequences,
          ...(entry.topLogprobCount === null ? {} : { logprobs: { topCount: entry.topLogprobCount } }),
        },
      }),
    ),
  );

/** What a choice must say, computed one token at a time with no cache, batch or schedule. */
function expectedTokens(request: SubmitMessage, choiceIndex: number): number[] {
  const sampler = new Sampler(VOCAB_SIZE);
  const history = [...request.promptTokenIds];
  const output: number[] = [];
  const tokenCounts = new TokenCounts();
  const processors = createLogitsProcessors(request);
  while (output.length < request.maxTokens) {
    const { tokenId } = sampler.sample(scriptedLogits(history, VOCAB_SIZE, { peak: 1 }), {
      params: request.sampling,
      randomKey: counterKey(request.sampling.seed + BigInt(choiceIndex)),
      position: output.length,
      processors,
      output: { outputTokenIds: output, tokenCounts },
      topLogprobCount: undefined,
    });
    tokenCounts.add(tokenId);
    output.push(tokenId);
    history.push(tokenId);
    if (tokenId === EOS_TOKEN_ID) break;
  }
  return output;
}

interface Run {
  readonly tokens: Map<string, number[]>;
  readonly finishes: Map<string, string>;
}

/** Plays the schedule; the cache bookkeeping must hold after every step and be empty at the end. */
async function play(schedule: readonly Arrival[], core: EngineCore): Promise<Run> {
  const run: Run = { tokens: new Map(), finishes: new Map() };
  const waiting = [...schedule];
  for (let step = 0; waiting.length > 0 || core.hasWork; step++) {
    for (const arrival of waiting.filter(candidate => candidate.atStep <= step)) {
      core.submit(arrival.request);
      waiting.splice(waiting.indexOf(arrival), 1);
    }
    const running = core.step();
    abortDue(schedule, core, step, true);
    for (const output of await running) {
      if (output.kind !== 'step') throw new Error(`Unexpected ${output.kind}.`);
      for (const update of output.updates) {
        const key = `${update.requestId}/${update.choiceIndex}`;
        expect(run.finishes.has(key)).toBe(false);
        run.tokens.set(key, [...(run.tokens.get(key) ?? []), ...update.tokenIds]);
        if (update.finish) run.finishes.set(key, update.finish.reason);
      }
    }
    expect(core.findViolations()).toEqual([]);
    abortDue(schedule, core, step, false);
    expect(step).toBeLessThan(5_000);
  }
  expect(core.stats).toMatchObject({ runningCount: 0, waitingCount: 0 });
  expect(core.stats.freeSlotCount).toBe(core.facts.maxSequences);
  return run;
}

function abortDue(schedule: readonly Arrival[], core: EngineCore, step: number, isInFlight: boolean): void {
  for (const { request, abortedAtStep, abortedChoice, isAbortedInFlight } of schedule) {
    if (abortedAtStep === step && isAbortedInFlight === isInFlight)
      core.abort(request.requestId, abortedChoice ?? undefined);
  }
}

function expectRunIsRight(schedule: readonly Arrival[], run: Run): void {
  for (const { request, abortedAtStep, abortedChoice } of schedule) {
    for (let choiceIndex = 0; choiceIndex < request.choiceCount; choiceIndex++) {
      const key = `${request.requestId}/${choiceIndex}`;
      const expected = expectedTokens(request, choiceIndex);
      const actual = run.tokens.get(key) ?? [];
      const reason = run.finishes.get(key);
      if (reason === 'abort') {
        expect(abortedAtStep).not.toBeNull();
        expect([null, choiceIndex]).toContain(abortedChoice);
        expect(actual).toEqual(expected.slice(0, actual.length));
      } else {
        expect(actual).toEqual(expected);
        expect(reason).toBe(expected.at(-1) === EOS_TOKEN_ID ? 'stop' : 'length');
      }
    }
  }
}

const machines = fc.record({
  slotCount: fc.integer({ min: 1, max: 5 }),
  prefillChunkLength: fc.integer({ min: 1, max: 24 }),
});

function createCore(
  machine: { slotCount: number; prefillChunkLength: number },
  failsAt: (callIndex: number) => boolean = () => false,
): EngineCore {
  const model = new ScriptedModel({
    vocabSize: VOCAB_SIZE,
    contextLength: 40,
    slotCount: machine.slotCount,
    peak: 1,
    failsAt,
  });
  return new EngineCore(model, {
    prefillChunkLength: machine.prefillChunkLength,
    maxQueuedSequences: 100,
  });
}

describe('EngineCore under random schedules', () => {
  it('gives every sequence the tokens it would have got alone, in one chunk, whatever the batch', async () => {
    await fc.assert(
      fc.asyncProperty(arrivals, machines, async (schedule, machine) => {
        expectRunIsRight(schedule, await play(schedule, createCore(machine)));
      }),
      { numRuns: 150 },
    );
  });

  it('gives the same tokens when steps fail and are tried again', async () => {
    await fc.assert(
      fc.asyncProperty(arrivals, machines, fc.nat({ max: 1000 }), async (schedule, machine, salt) => {
        // Never three failures in a row, so that no step is given up.
        const failsAt = (call: number): boolean => (call * 7 + salt) % 5 < 2 && call % 3 !== 0;
        expectRunIsRight(schedule, await play(schedule, createCore(machine, failsAt)));
      }),
      { numRuns: 100 },
    );
  });
});
