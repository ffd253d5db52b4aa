import fc from 'fast-check';
import { IS_FULL_RUN, runs } from 'test-runs';
import { describe, expect, it } from 'vitest';
import { type Answer, expectedAnswer } from '../../test/answer-alone.ts';
import {
  type Arrival,
  arrivals,
  createMachineModel,
  EOS_TOKEN_ID,
  type Machine,
  machines,
  TEXT,
  VOCAB_SIZE,
} from '../../test/core-schedules.ts';
import type { CoreStats } from '../protocol/core-stats.ts';
import type { PrefilledRequest, SequenceUpdate } from '../protocol/messages.ts';
import { readTokenLogprobs } from '../testing/read-token-logprobs.ts';
import { hashTokens, ScriptedModel, type ScriptedRunner, scriptedLogits } from '../testing/scripted-model.ts';
import { EngineCore } from './engine-core.ts';
import type { DraftableSequence, Drafter } from './speculative-decoding/drafter.ts';
import { HostStepRunner } from './step/host-step-runner.ts';

/**
 * Drafts that no policy would make: of any length, beside prompts and in some of the sequences, with right tokens, wrong
 * ones and ends. A pure function of the sequence's state, which the contract of a drafter requires.
 */
const RANDOM_DRAFTER: Drafter = {
  draft(decodes, { logitsRoom }) {
    let roomLeft = logitsRoom;
    return decodes.map(sequence => {
      const proposed = randomProposal(sequence);
      const length = Math.min(proposed.length, roomLeft);
      roomLeft -= length;
      return { proposed, source: 'text', length };
    });
  },
};

function randomProposal(sequence: DraftableSequence): Int32Array {
  const { group, choiceIndex, outputTokenIds } = sequence;
  const hash = hashTokens([group.requestId, choiceIndex, outputTokenIds.length]);
  const said = outputTokenIds.length;
  const length = Math.min(hash % 7, group.submitted.maxTokens - said - 1);
  const right = expectedAnswer(group.submitted, choiceIndex).tokenIds;
  return Int32Array.from({ length }, (_, i) =>
    (hash >>> (8 + i)) % 4 === 0 ? (hash >>> i) % VOCAB_SIZE : (right[said + i] ?? EOS_TOKEN_ID),
  );
}

function createCore(machine: Machine): { core: EngineCore; model: ScriptedRunner } {
  const { drafting, failureSalt } = machine;
  const model = createMachineModel(machine, {
    // Never three failures in a row, so that no step is given up.
    failsAt: call => failureSalt !== null && (call * 7 + failureSalt) % 5 < 2 && call % 3 !== 0,
  });
  const drafter = { lookup: {}, random: { drafter: RANDOM_DRAFTER }, none: { drafter: null } }[drafting];
  return {
    model,
    core: new EngineCore(new HostStepRunner(model), { ...machine, ...drafter, maxQueuedSequences: 100 }),
  };
}

/** A core, its model, and everything that was heard of the schedule so far. */
class Play {
  readonly tokens = new Map<string, number[]>();
  readonly logprobs = new Map<string, Answer['logprobs'][number][]>();
  readonly finishes = new Map<string, string>();
  readonly prefilled = new Map<number, PrefilledRequest>();
  readonly #core: EngineCore;
  readonly #model: ScriptedRunner;
  readonly #schedule: readonly Arrival[];
  readonly #paused = new Set<string>();
  readonly #isFcfs: boolean;
  readonly #hasSlots: boolean;

  get loadedPieceCount(): number {
    return this.#model instanceof ScriptedModel ? this.#model.loadedPieceCount : 0;
  }

  get stats(): CoreStats {
    return this.#core.stats;
  }

  constructor(schedule: readonly Arrival[], machine: Machine) {
    const { core, model } = createCore(machine);
    this.#core = core;
    this.#model = model;
    this.#schedule = schedule;
    this.#isFcfs = machine.schedulingPolicy === 'fcfs';
    this.#hasSlots = machine.cacheKind === 'slots';
  }

  /** Plays the schedule; the bookkeeping must hold after every step and every slot must be free at the end. */
  async run(): Promise<void> {
    const core = this.#core;
    const waiting = [...this.#schedule];
    for (let step = 0; waiting.length > 0 || core.hasWork || this.#paused.size > 0; step++) {
      for (const arrival of waiting.filter(candidate => candidate.atStep <= step)) {
        core.submit(this.#isFcfs ? { ...arrival.request, priority: 0 } : arrival.request);
        waiting.splice(waiting.indexOf(arrival), 1);
      }
      const pausedBefore = new Set(this.#paused);
      const running = core.step();
      this.#disturb(step, true);
      for (const output of await running) {
        if (output.kind !== 'step') throw new Error(`Unexpected ${output.kind}.`);
        for (const update of output.updates) this.#take(update, pausedBefore);
        for (const prefilled of output.prefilled) {
          expect(this.prefilled.has(prefilled.requestId)).toBe(false);
          this.prefilled.set(prefilled.requestId, prefilled);
        }
      }
      const violations = core.findViolations();
      if (violations.length > 0) throw new Error(violations.join('\n'));
      this.#disturb(step, false);
      if (step > 5_000) throw new Error('The schedule does not end.');
    }
    const { runningCount, waitingCount, freeSlotCount } = core.stats;
    expect({ runningCount, waitingCount }).toEqual({ runningCount: 0, waitingCount: 0 });
    expect(freeSlotCount).toBe(core.facts.maxSequences);
    if (this.#hasSlots) this.#expectDenseDecodes();
  }

  #take(
    { requestId, choiceIndex, tokenIds, logprobs = [], finish }: SequenceUpdate,
    pausedBefore: ReadonlySet<string>,
  ): void {
    const key = `${requestId}/${choiceIndex}`;
    if (this.finishes.has(key)) throw new Error(`${key} goes on after its end.`);
    if (tokenIds.length > 0 && pausedBefore.has(key)) throw new Error(`${key} goes on while it is paused.`);
    const tokens = this.tokens.get(key);
    if (tokens === undefined) this.tokens.set(key, [...tokenIds]);
    else tokens.push(...tokenIds);
    this.logprobs.set(key, [...(this.logprobs.get(key) ?? []), ...logprobs]);
    if (finish === undefined) return;
    this.finishes.set(key, finish.reason);
    this.#paused.delete(key);
  }

  #disturb(step: number, isInFlight: boolean): void {
    for (const { request, abortedAtStep, abortedChoice, pauses, isDisturbedInFlight, atStep } of this
      .#schedule) {
      if (isDisturbedInFlight !== isInFlight || step < atStep) continue;
      if (abortedAtStep === step) this.#core.abort(request.requestId, abortedChoice ?? undefined);
      for (const { choiceIndex, atStep: from, length } of pauses) {
        const key = `${request.requestId}/${choiceIndex}`;
        if (choiceIndex >= request.choiceCount) continue;
        if (step === from && !this.finishes.has(key)) this.#setPaused(request.requestId, choiceIndex, true);
        if (step >= from + length && this.#paused.has(key))
          this.#setPaused(request.requestId, choiceIndex, false);
      }
    }
  }

  #setPaused(requestId: number, choiceIndex: number, isPaused: boolean): void {
    const key = `${requestId}/${choiceIndex}`;
    if (isPaused) this.#paused.add(key);
    else this.#paused.delete(key);
    this.#core.setPaused(requestId, choiceIndex, { isPaused });
  }

  /** Several rows that draw after one token are in slots 0, 1, 2, ...: one call of a real model. */
  #expectDenseDecodes(): void {
    if (this.#schedule.some(({ request }) => request.promptLogprobs !== undefined)) return;
    for (const rows of this.#model.calls) {
      const isDecode = (row: (typeof rows)[number]) => row.tokenCount === 1 && row.logitsCount === 1;
      const slots = rows.filter(isDecode).map(row => row.slot);
      if (slots.length > 1) expect(slots).toEqual(slots.map((_, index) => index));
    }
  }
}

function expectOutputsAreRight(schedule: readonly Arrival[], play: Play): void {
  for (const { request, abortedAtStep, abortedChoice } of schedule) {
    for (let choiceIndex = 0; choiceIndex < request.choiceCount; choiceIndex++) {
      const key = `${request.requestId}/${choiceIndex}`;
      const expected = expectedAnswer(request, choiceIndex);
      const actual = play.tokens.get(key) ?? [];
      const reason = play.finishes.get(key);
      expect(play.logprobs.get(key) ?? []).toEqual(expected.logprobs.slice(0, actual.length));
      if (reason === 'abort') {
        expect(abortedAtStep).not.toBeNull();
        expect([null, choiceIndex]).toContain(abortedChoice);
        expect(actual).toEqual(expected.tokenIds.slice(0, actual.length));
      } else {
        expect(actual).toEqual(expected.tokenIds);
        expect(reason).toBe(expected.finish.reason);
      }
    }
  }
}

/** Log probabilities of a prompt are those of the prompt computed alone, once for the request. */
function expectPromptLogprobsAreRight(schedule: readonly Arrival[], play: Play): void {
  for (const { request } of schedule) {
    const prefilled = play.prefilled.get(request.requestId);
    if (prefilled === undefined) continue;
    const prompt = [...request.promptTokenIds];
    const expected = prompt.map((tokenId, position) =>
      position === 0
        ? null
        : readTokenLogprobs(scriptedLogits(prompt.slice(0, position), VOCAB_SIZE, TEXT), tokenId, 2),
    );
    expect(prefilled.promptLogprobs).toEqual(request.promptLogprobs === undefined ? undefined : expected);
  }
}

/** No request got more from the cache than what requests of its partition share with it, and never its last token. */
function expectCachedCountsArePossible(
  schedule: readonly Arrival[],
  play: Play,
  { prefixCaching }: Machine,
): void {
  for (const { request } of schedule) {
    const { requestId, promptTokenIds, cachePartition, promptLogprobs } = request;
    const count = play.prefilled.get(requestId)?.cachedTokenCount ?? 0;
    const mayHit = prefixCaching && promptLogprobs === undefined;
    const others = schedule.filter(
      other => other.request.requestId !== requestId && other.request.cachePartition === cachePartition,
    );
    const possible = others.flatMap(other =>
      Array.from({ length: other.request.choiceCount }, (_, choiceIndex) =>
        commonLength(promptTokenIds, [
          ...other.request.promptTokenIds,
          ...expectedAnswer(other.request, choiceIndex).tokenIds,
        ]),
      ),
    );
    const most = mayHit ? Math.min(promptTokenIds.length - 1, Math.max(0, ...possible)) : 0;
    expect(count).toBeLessThanOrEqual(most);
  }
}

function commonLength(a: Int32Array, b: readonly number[]): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

describe('EngineCore under random schedules', () => {
  // Arrivals, aborts, paused readers, preemptions by priority and for want of memory, failing steps, chunks, slots or
  // blocks, caches, partitions, drafts.
  it.each(['slots', 'blocks'] as const)(
    'gives every choice the tokens that it gives alone, without cache, batch, draft and schedule: %s',
    async cacheKind => {
      const counts = { lookup: [0, 0], random: [0, 0], none: [0, 0] } satisfies Record<string, number[]>;
      let preemptionCount = 0;
      let hitCount = 0;
      let loadedPieceCount = 0;
      await fc.assert(
        fc.asyncProperty(arrivals, machines(cacheKind), async (schedule, machine) => {
          const play = new Play(schedule, machine);
          await play.run();
          const { draftedTokenCount, acceptedTokenCount } = play.stats;
          counts[machine.drafting][0]! += draftedTokenCount;
          counts[machine.drafting][1]! += acceptedTokenCount;
          if (machine.schedulingPolicy === 'fcfs') preemptionCount += play.stats.preemptionCount;
          hitCount += play.stats.cacheHitTokenCount;
          loadedPieceCount += play.loadedPieceCount;
          expectOutputsAreRight(schedule, play);
          expectPromptLogprobsAreRight(schedule, play);
          expectCachedCountsArePossible(schedule, play, machine);
        }),
        { numRuns: runs({ daily: 60, full: 600 }) },
      );
      expect(counts.none).toEqual([0, 0]);
      // A daily run may miss these rare events.
      if (!IS_FULL_RUN) return;
      for (const [drafted, accepted] of [counts.lookup, counts.random]) {
        expect(accepted).toBeGreaterThan(10);
        expect(drafted).toBeGreaterThan(accepted!);
      }
      expect(preemptionCount).toBeGreaterThan(5);
      expect(hitCount).toBeGreaterThan(100);
      if (cacheKind === 'slots') expect(loadedPieceCount).toBeGreaterThan(2);
    },
    120_000,
  );
});
