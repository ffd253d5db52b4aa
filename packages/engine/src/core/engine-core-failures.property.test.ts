// Schedules in which the model fails for good: steps are given up, rows have logits that are not numbers. Whatever happens
// to others, a request ends once, with right tokens until then, and nothing of it stays.

import fc from 'fast-check';
import { IS_FULL_RUN, runs } from 'test-runs';
import { expect, it } from 'vitest';
import { expectedAnswer } from '../../test/answer-alone.ts';
import {
  type Arrival,
  arrivals,
  createMachineModel,
  type Machine,
  machines,
} from '../../test/core-schedules.ts';
import { hashTokens } from '../testing/scripted-model.ts';
import { EngineCore } from './engine-core.ts';
import { HostStepRunner } from './step/host-step-runner.ts';

/** When the model fails: a function of the call, and of the text. */
interface Faults {
  readonly callSalt: number;
  readonly textSalt: number;
}

function createCore(given: Machine, { callSalt, textSalt }: Faults): EngineCore {
  // Drafts come from the default drafter here, and rings are made for its longest.
  const machine: Machine = { ...given, drafting: given.drafting === 'none' ? 'none' : 'lookup' };
  const model = createMachineModel(machine, {
    // Four in a row, so that steps are given up.
    failsAt: call => hashTokens([call >> 2, callSalt]) % 5 === 0,
    logitsFault: history => hashTokens([...history, textSalt]) % 97 === 0,
  });
  return new EngineCore(new HostStepRunner(model), {
    ...machine,
    ...(machine.drafting === 'none' ? { drafter: null } : {}),
    maxQueuedSequences: 100,
    fatalFailureLimit: Number.MAX_SAFE_INTEGER,
  });
}

/** A core and what was heard of each choice, by `request/choice`. */
class Play {
  readonly tokens = new Map<string, number[]>();
  readonly ends = new Map<string, string>();
  readonly failed = new Set<number>();
  readonly core: EngineCore;
  readonly #paused = new Map<string, () => void>();

  constructor(core: EngineCore) {
    this.core = core;
  }

  async run(schedule: readonly Arrival[], isFcfs: boolean): Promise<void> {
    const waiting = [...schedule];
    for (let step = 0; waiting.length > 0 || this.core.hasWork || this.#paused.size > 0; step++) {
      while (waiting.length > 0 && waiting.some(({ atStep }) => atStep <= step)) {
        const [next] = waiting.splice(
          waiting.findIndex(({ atStep }) => atStep <= step),
          1,
        );
        this.core.submit(isFcfs ? { ...next!.request, priority: 0 } : next!.request);
      }
      const running = this.core.step();
      for (const arrival of schedule) if (arrival.isDisturbedInFlight) this.#disturb(arrival, step);
      this.#hear(await running);
      expect(this.core.findViolations()).toEqual([]);
      for (const arrival of schedule) if (!arrival.isDisturbedInFlight) this.#disturb(arrival, step);
      if (step > 8_000) throw new Error('The schedule does not end.');
    }
  }

  #hear(outputs: Awaited<ReturnType<EngineCore['step']>>): void {
    for (const output of outputs) {
      if (output.kind === 'fatal') throw new Error(output.message);
      if (output.kind === 'request-failed') {
        expect(this.failed.has(output.requestId)).toBe(false);
        this.failed.add(output.requestId);
        for (const key of this.#paused.keys())
          if (key.startsWith(`${output.requestId}/`)) this.#paused.delete(key);
        continue;
      }
      for (const { requestId, choiceIndex, tokenIds, finish } of output.updates) {
        const key = `${requestId}/${choiceIndex}`;
        if (this.failed.has(requestId) || this.ends.has(key))
          throw new Error(`${key} goes on after its end.`);
        this.tokens.set(key, [...(this.tokens.get(key) ?? []), ...tokenIds]);
        if (finish === undefined) continue;
        this.ends.set(key, finish.reason);
        this.#paused.delete(key);
      }
    }
  }

  #disturb({ request, abortedAtStep, abortedChoice, pauses, atStep }: Arrival, step: number): void {
    const { requestId, choiceCount } = request;
    if (step < atStep) return;
    if (abortedAtStep === step) this.core.abort(requestId, abortedChoice ?? undefined);
    for (const { choiceIndex, atStep: from, length } of pauses) {
      const key = `${requestId}/${choiceIndex}`;
      const hasEnded = this.ends.has(key) || this.failed.has(requestId);
      if (step === from && choiceIndex < choiceCount && !hasEnded) {
        this.core.setPaused(requestId, choiceIndex, { isPaused: true });
        this.#paused.set(key, () => this.core.setPaused(requestId, choiceIndex, { isPaused: false }));
      }
      if (step < from + length) continue;
      this.#paused.get(key)?.();
      this.#paused.delete(key);
    }
  }
}

function expectRightUntilTheEnd({ request }: Arrival, play: Play): void {
  for (let choiceIndex = 0; choiceIndex < request.choiceCount; choiceIndex++) {
    const key = `${request.requestId}/${choiceIndex}`;
    const actual = play.tokens.get(key) ?? [];
    const expected = expectedAnswer(request, choiceIndex);
    expect(actual).toEqual(expected.tokenIds.slice(0, actual.length));
    const reason = play.ends.get(key);
    if (reason === undefined) expect(play.failed.has(request.requestId)).toBe(true);
    else if (reason !== 'abort')
      expect([actual, reason]).toEqual([expected.tokenIds, expected.finish.reason]);
  }
}

it.each(['slots', 'blocks'] as const)(
  'every request ends once and leaves nothing, however steps and rows of others fail: %s',
  async cacheKind => {
    let failedCount = 0;
    const faults = fc.record({ callSalt: fc.nat(), textSalt: fc.nat() });
    await fc.assert(
      fc.asyncProperty(arrivals, machines(cacheKind), faults, async (schedule, machine, given) => {
        const play = new Play(createCore(machine, given));
        await play.run(schedule, machine.schedulingPolicy === 'fcfs');
        const { runningCount, waitingCount, freeSlotCount } = play.core.stats;
        const { maxSequences } = play.core.facts;
        expect([runningCount, waitingCount, freeSlotCount]).toEqual([0, 0, maxSequences]);
        for (const arrival of schedule) expectRightUntilTheEnd(arrival, play);
        failedCount += play.failed.size;
      }),
      { numRuns: runs({ daily: 40, full: 300 }) },
    );
    // A daily run may miss these rare events.
    if (IS_FULL_RUN) expect(failedCount).toBeGreaterThan(20);
  },
  120_000,
);
