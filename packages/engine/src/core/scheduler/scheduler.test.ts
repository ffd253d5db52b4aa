import { describe, expect, it } from 'vitest';
import type { SubmitMessage } from '../../protocol/messages.ts';
import { createSequence } from '../../testing/create-sequence.ts';
import { BlockCacheManager } from '../kv-cache/block-cache-manager.ts';
import type { KvCacheManager } from '../kv-cache/kv-cache-manager.ts';
import { SlotCacheManager } from '../kv-cache/slot-cache-manager.ts';
import { Sequence } from '../sequence.ts';
import type { Drafter } from '../speculative-decoding/drafter.ts';
import { Scheduler } from './scheduler.ts';

interface Machine {
  readonly maxSequences?: number;
  readonly cacheSlots?: number;
  readonly prefixCaching?: boolean;
  readonly prefillChunkLength?: number;
  readonly mixedChunkLength?: number;
  readonly drafter?: Drafter;
  /** A cache of this many blocks of 4 tokens instead of one of slots. */
  readonly blockCount?: number;
}

/** A scheduler over a cache without memory, and a model that gives every sequence token 7 again and again. */
class Bench {
  readonly scheduler: Scheduler;
  readonly cache: KvCacheManager;

  constructor(machine: Machine = {}) {
    const { maxSequences = 2, cacheSlots = 0, prefixCaching = true } = machine;
    const { prefillChunkLength = 16, mixedChunkLength = 16 } = machine;
    this.cache = createCache(machine.blockCount, {
      slotCount: maxSequences + cacheSlots,
      maxSequences,
      prefixCaching,
    });
    const limits = { prefillChunkLength, mixedChunkLength, promptLogitsLimit: 99 };
    this.scheduler = new Scheduler(this.cache, limits, machine.drafter ?? null);
  }

  add(requestId: number, promptLength = 3, changes: Partial<SubmitMessage> = {}): Sequence {
    // Prompts of different requests share nothing.
    const promptTokenIds = Int32Array.from({ length: promptLength }, (_, i) => 100 * requestId + i);
    const sequence = createSequence(requestId, 0, { promptTokenIds, maxTokens: 8, ...changes });
    this.scheduler.add(sequence);
    return sequence;
  }

  /** One step: which requests computed how many tokens. Sequences that reach their length end. */
  step(): [requestId: number, tokenCount: number][] {
    const plan = this.scheduler.schedule(0);
    const rows = plan?.rows.map((row): [number, number] => [
      row.sequence.group.requestId,
      row.tokenIds.length,
    ]);
    for (const { sequence, tokenIds, drawsToken } of plan?.rows ?? []) {
      sequence.computedLength += tokenIds.length;
      if (!drawsToken) continue;
      sequence.append(7);
      sequence.group.isPrefilled = true;
      if (sequence.outputTokenIds.length < sequence.group.submitted.maxTokens) continue;
      sequence.group.openSequences.delete(sequence);
      this.scheduler.remove(sequence, { keepsPrefix: true });
    }
    return rows ?? [];
  }

  stepUntil(condition: () => boolean): void {
    for (let count = 0; !condition(); count++) {
      this.step();
      expect(count).toBeLessThan(10_000);
    }
  }
}

function createCache(
  blockCount: number | undefined,
  settings: { readonly slotCount: number; readonly maxSequences: number; readonly prefixCaching: boolean },
): KvCacheManager {
  const nothing = (): void => undefined;
  if (blockCount === undefined)
    return new SlotCacheManager({ copySlot: nothing, swapSlots: nothing }, { ...settings, blockLength: 2 });
  const contextLength = 4 * blockCount;
  return new BlockCacheManager(
    { copyBlock: nothing },
    { ...settings, blockCount, blockLength: 4, contextLength },
  );
}

const outputLength = (sequence: Sequence): number => sequence.outputTokenIds.length;

describe('Scheduler', () => {
  it('gives every running answer a token in every step, whatever prompts there are', () => {
    const bench = new Bench({ maxSequences: 3, prefillChunkLength: 20, mixedChunkLength: 5 });
    bench.add(1);
    bench.step();
    bench.add(2, 30);
    bench.add(3, 30);
    expect(bench.step()).toEqual([
      [1, 1],
      [2, 5],
    ]);
    expect(bench.step()).toEqual([
      [1, 1],
      [2, 5],
    ]);
  });

  it('puts drafts after the other running answers and before prompts, as rows of their own', () => {
    const drafter: Drafter = {
      draft: decodes =>
        decodes.map(sequence => {
          const length = sequence.group.requestId === 1 ? 3 : 0;
          return { proposed: Int32Array.of(7, 8, 9), source: 'text', length };
        }),
    };
    const bench = new Bench({ maxSequences: 3, drafter });
    const first = bench.add(1);
    bench.add(2);
    bench.step();
    bench.add(3);
    const rows = bench.scheduler.schedule(0)?.rows ?? [];
    expect(
      rows.map(({ slot, sequence, tokenIds, logitsCount, draftLength }) => ({
        slot,
        requestId: sequence.group.requestId,
        tokenIds: [...tokenIds],
        logitsCount,
        draftLength,
      })),
    ).toEqual([
      { slot: 1, requestId: 2, tokenIds: [7], logitsCount: 1, draftLength: 0 },
      { slot: 0, requestId: 1, tokenIds: [7, 7, 8, 9], logitsCount: 4, draftLength: 3 },
      { slot: 2, requestId: 3, tokenIds: [300, 301, 302], logitsCount: 1, draftLength: 0 },
    ]);
    expect(first.pendingCount).toBe(1);
  });

  it('computes longer chunks while no answer runs', () => {
    const bench = new Bench({ prefillChunkLength: 20, mixedChunkLength: 5 });
    bench.add(1, 25);
    expect(bench.step()).toEqual([[1, 20]]);
    expect(bench.step()).toEqual([[1, 5]]);
  });

  it('finishes prompts in the order of requests and fills a step with the next ones', () => {
    const bench = new Bench({ maxSequences: 3, prefillChunkLength: 8 });
    bench.add(1, 5);
    bench.add(2, 5);
    bench.add(3, 5);
    expect(bench.step()).toEqual([
      [1, 5],
      [2, 3],
    ]);
    expect(bench.step()).toEqual([
      [1, 1],
      [2, 2],
      [3, 5],
    ]);
  });

  it('starves no request in order of arrival: under constant load every one is admitted in turn', () => {
    const bench = new Bench({ maxSequences: 2, prefillChunkLength: 4, mixedChunkLength: 4 });
    const admitted: number[] = [];
    for (let requestId = 0; requestId < 60; requestId++) {
      // More work comes than is done: long and short, so that the short ones could overtake.
      bench.add(requestId, requestId % 3 === 0 ? 15 : 1, { maxTokens: 3 });
      for (const [id] of bench.step()) if (!admitted.includes(id)) admitted.push(id);
    }
    expect(admitted.length).toBeGreaterThan(10);
    expect(admitted).toEqual(admitted.map((_, index) => index));
  });

  it('serves lower priorities first, then earlier requests', () => {
    const bench = new Bench({ maxSequences: 1 });
    bench.add(1, 3, { priority: 5, maxTokens: 1 });
    bench.add(2, 3, { priority: 0, maxTokens: 1 });
    bench.add(3, 3, { priority: -1, maxTokens: 1 });
    bench.add(4, 3, { priority: 0, maxTokens: 1 });
    expect([bench.step(), bench.step(), bench.step(), bench.step()].map(rows => rows[0]?.[0])).toEqual([
      3, 2, 4, 1,
    ]);
  });

  it('gives the budget of prompts to a more urgent request that arrives in their middle', () => {
    const bench = new Bench({ prefillChunkLength: 4 });
    bench.add(1, 12, { priority: 1 });
    bench.step();
    bench.add(2, 6, { priority: 0 });
    expect(bench.step()).toEqual([[2, 4]]);
    expect(bench.step()).toEqual([
      [2, 2],
      [1, 2],
    ]);
  });

  it('preempts the last one of lower priority for a more urgent request, and none for an equal one', () => {
    const bench = new Bench({ maxSequences: 2 });
    const first = bench.add(1, 3, { priority: 1 });
    const second = bench.add(2, 3, { priority: 1 });
    bench.step();
    const equal = bench.add(3, 3, { priority: 1 });
    bench.step();
    expect(equal.slot).toBeNull();
    expect(bench.scheduler.preemptionCount).toBe(0);
    const urgent = bench.add(4, 3, { priority: 0 });
    bench.step();
    expect([first.slot, second.slot, urgent.slot].map(slot => slot !== null)).toEqual([true, false, true]);
    expect(bench.scheduler.preemptionCount).toBe(1);
    bench.stepUntil(() => !bench.scheduler.hasWork);
    expect([first, second, equal, urgent].map(outputLength)).toEqual([8, 8, 8, 8]);
  });

  it('lets a preempted sequence back before those that came after it, and computes only what is not cached', () => {
    const bench = new Bench({ maxSequences: 1, cacheSlots: 1 });
    const first = bench.add(1, 6, { priority: 1 });
    bench.add(2, 3, { priority: 1 });
    bench.step();
    bench.step();
    const urgent = bench.add(3, 3, { priority: 0, maxTokens: 1 });
    bench.step();
    expect(first.slot).toBeNull();
    expect(outputLength(urgent)).toBe(1);
    // Seven tokens were computed and are still there: the next step is a decode like any other.
    expect(bench.step()).toEqual([[1, 1]]);
  });

  it('computes a preempted sequence again where nothing is cached', () => {
    const bench = new Bench({ maxSequences: 1, prefixCaching: false });
    const first = bench.add(1, 6, { priority: 1 });
    bench.step();
    bench.step();
    bench.add(2, 3, { priority: 0, maxTokens: 1 });
    bench.step();
    expect(bench.step()).toEqual([[1, 8]]);
    expect(outputLength(first)).toBe(3);
  });

  it('passes over a paused sequence, and only over that one', () => {
    const bench = new Bench();
    const slow = bench.add(1);
    bench.add(2);
    bench.step();
    bench.scheduler.setPaused(slow, { isPaused: true });
    expect(bench.step()).toEqual([[2, 1]]);
    bench.scheduler.setPaused(slow, { isPaused: false });
    expect(
      bench
        .step()
        .map(([id]) => id)
        .sort(),
    ).toEqual([1, 2]);
  });

  it('has no work while all running sequences are paused and none waits', () => {
    const bench = new Bench();
    const slow = bench.add(1);
    bench.step();
    bench.scheduler.setPaused(slow, { isPaused: true });
    expect(bench.scheduler.hasWork).toBe(false);
    expect(bench.step()).toEqual([]);
    bench.scheduler.setPaused(slow, { isPaused: false });
    expect(bench.scheduler.hasWork).toBe(true);
  });

  it('gives the slot of a paused sequence to one that waits, also in order of arrival', () => {
    const bench = new Bench({ maxSequences: 1 });
    const slow = bench.add(1);
    const next = bench.add(2);
    bench.step();
    bench.scheduler.setPaused(slow, { isPaused: true });
    bench.step();
    expect([slow.slot, next.slot]).toEqual([null, 0]);
    expect(bench.scheduler.waitingCount).toBe(1);
    bench.scheduler.setPaused(slow, { isPaused: false });
    bench.stepUntil(() => !bench.scheduler.hasWork);
    expect([slow, next].map(outputLength)).toEqual([8, 8]);
  });

  it('passes over a paused sequence that waits, and forgets it when it ends', () => {
    const bench = new Bench({ maxSequences: 1 });
    bench.add(1);
    const [slow, next] = [bench.add(2), bench.add(3)];
    bench.scheduler.setPaused(slow, { isPaused: true });
    bench.stepUntil(() => next.slot !== null);
    expect(slow.slot).toBeNull();
    bench.scheduler.remove(slow, { keepsPrefix: true });
    bench.stepUntil(() => !bench.scheduler.hasWork);
    expect(bench.scheduler.waitingCount).toBe(0);
  });

  it('lets a choice wait for the prompt that its sibling computes, but not for a paused one', () => {
    const bench = new Bench({ maxSequences: 2, prefillChunkLength: 4 });
    const first = bench.add(1, 9);
    const second = new Sequence(first.group, 1);
    first.group.openSequences.add(second);
    bench.scheduler.add(second);
    bench.step();
    bench.step();
    expect(second.slot).toBeNull();
    bench.scheduler.setPaused(first, { isPaused: true });
    bench.step();
    expect(second.computedLength).toBeGreaterThan(8);
  });

  it('keeps several decodes in the first slots when prompts end in any order', () => {
    const bench = new Bench({ maxSequences: 4, cacheSlots: 2, prefillChunkLength: 6, mixedChunkLength: 3 });
    for (let requestId = 1; requestId <= 30; requestId++)
      bench.add(requestId, 1 + ((requestId * 5) % 11), { maxTokens: 1 + (requestId % 6) });
    while (bench.scheduler.hasWork) {
      const rows = bench.scheduler.schedule(0)!.rows;
      const decodes = rows.filter(row => row.drawsToken && row.tokenIds.length === 1);
      if (decodes.length > 1) expect(decodes.map(row => row.slot)).toEqual(decodes.map((_, index) => index));
      bench.step();
    }
  });
});

describe('Scheduler over blocks', () => {
  it('admits no sequence whose tokens would take the blocks that others may need next', () => {
    const bench = new Bench({ maxSequences: 4, blockCount: 6, prefixCaching: false });
    const [first, second, third] = [bench.add(1, 8), bench.add(2, 8), bench.add(3, 4)];
    bench.step();
    expect([first, second, third].map(({ slot }) => slot !== null)).toEqual([true, true, false]);
    bench.stepUntil(() => !bench.scheduler.hasWork);
    expect([first, second, third].map(outputLength)).toEqual([8, 8, 8]);
  });

  it('preempts the last one when an answer needs a block and none is left, and loses nothing', () => {
    const bench = new Bench({ maxSequences: 3, blockCount: 7, prefixCaching: false });
    const [first, second] = [bench.add(1, 7, { maxTokens: 12 }), bench.add(2, 7, { maxTokens: 12 })];
    bench.step();
    expect(second.slot).not.toBeNull();
    bench.stepUntil(() => second.slot === null);
    expect(first.slot).not.toBeNull();
    expect(bench.cache.findViolations(28)).toEqual([]);
    bench.stepUntil(() => !bench.scheduler.hasWork);
    expect(bench.scheduler.preemptionCount).toBeGreaterThan(0);
    expect([first, second].map(outputLength)).toEqual([12, 12]);
    expect(bench.cache.freeCount).toBe(3);
  });

  it('takes the blocks of a paused answer before those of one that is read', () => {
    const bench = new Bench({ maxSequences: 3, blockCount: 6, prefixCaching: false });
    const [first, second] = [bench.add(1, 7, { maxTokens: 12 }), bench.add(2, 7, { maxTokens: 12 })];
    bench.step();
    bench.step();
    bench.scheduler.setPaused(first, { isPaused: true });
    bench.stepUntil(() => !bench.scheduler.hasWork);
    expect([first.slot, outputLength(second)]).toEqual([null, 12]);
    bench.scheduler.setPaused(first, { isPaused: false });
    bench.stepUntil(() => !bench.scheduler.hasWork);
    expect(outputLength(first)).toBe(12);
  });

  it('drafts only as many tokens as fit the blocks', () => {
    const drafter: Drafter = {
      draft: decodes =>
        decodes.map(() => ({ proposed: Int32Array.of(7, 7, 7, 7), source: 'text', length: 4 })),
    };
    const bench = new Bench({ maxSequences: 1, blockCount: 2, drafter });
    bench.add(1, 4, { maxTokens: 4 });
    bench.step();
    expect(bench.step()).toEqual([[1, 1]]);
  });
});
