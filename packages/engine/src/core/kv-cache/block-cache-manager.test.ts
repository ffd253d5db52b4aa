import { describe, expect, it } from 'vitest';
import { admit, createSequence, release } from '../../testing/create-sequence.ts';
import { Sequence } from '../sequence.ts';
import { BlockCacheManager, type BlockCacheSettings } from './block-cache-manager.ts';

const CONTEXT_LENGTH = 32;

function createManager(settings: Partial<BlockCacheSettings> = {}) {
  const copies: (readonly [from: number, to: number])[] = [];
  const manager = new BlockCacheManager(
    { copyBlock: (from, to) => copies.push([from, to]) },
    {
      blockCount: 12,
      blockLength: 4,
      maxSequences: 4,
      contextLength: CONTEXT_LENGTH,
      prefixCaching: true,
      ...settings,
    },
  );
  return { manager, copies };
}

function sequenceOf(requestId: number, promptTokenIds: readonly number[], cachePartition = ''): Sequence {
  return createSequence(requestId, 0, { promptTokenIds: Int32Array.from(promptTokenIds), cachePartition });
}

function range(length: number, first = 0): number[] {
  return Array.from({ length }, (_, index) => first + index);
}

/** As the steps of its prompt would leave it. */
function compute(manager: BlockCacheManager, sequence: Sequence, tokenId = 99): void {
  sequence.computedLength = sequence.tokenCount;
  sequence.append(tokenId);
  manager.publish(sequence);
}

function blocksOf(sequence: Sequence, count: number): number[] {
  return [...sequence.blocks.subarray(0, count)];
}

/** Runs a request to its end and leaves its prompt in the cache. */
function cache(manager: BlockCacheManager, requestId: number, prompt: readonly number[]): number[] {
  const sequence = sequenceOf(requestId, prompt);
  expect(admit(manager, sequence)).toBe(true);
  const blocks = blocksOf(sequence, Math.ceil(prompt.length / 4));
  compute(manager, sequence);
  sequence.computedLength = prompt.length;
  release(manager, sequence, { keepsPrefix: true });
  return blocks;
}

describe('BlockCacheManager', () => {
  it('gives a sequence blocks for all its tokens and one more when it grows beyond them', () => {
    const { manager } = createManager();
    const sequence = sequenceOf(1, range(8));
    expect(admit(manager, sequence)).toBe(true);
    expect(manager.pool.freeCount).toBe(10);
    expect(manager.reserve(sequence, 8)).toBe(true);
    expect(manager.pool.freeCount).toBe(10);
    expect(manager.reserve(sequence, 9)).toBe(true);
    expect(manager.pool.freeCount).toBe(9);
    expect(manager.usedShare).toBe(0.25);
    release(manager, sequence, { keepsPrefix: false });
    expect(manager.pool.freeCount).toBe(12);
    expect(manager.findViolations(CONTEXT_LENGTH)).toEqual([]);
  });

  it('shares the full blocks of a cached prefix and copies the one that goes on differently', () => {
    const { manager, copies } = createManager();
    const cached = cache(manager, 1, range(10));
    const next = sequenceOf(2, [...range(10), 50, 51]);
    admit(manager, next);
    expect(blocksOf(next, 2)).toEqual(cached.slice(0, 2));
    expect(copies).toEqual([[cached[2], next.blocks[2]]]);
    expect(next.computedLength).toBe(10);
    expect(manager.counters).toMatchObject({ queriedTokenCount: 22, hitTokenCount: 10 });
  });

  it('computes few tokens of a block again rather than copying it', () => {
    const { manager, copies } = createManager({ blockLength: 8 });
    cache(manager, 1, range(9));
    const next = sequenceOf(2, [...range(9), 50]);
    admit(manager, next);
    expect(copies).toEqual([]);
    expect(next.computedLength).toBe(8);
  });

  it('leaves the last token of a prompt to be computed, in a block of its own', () => {
    const { manager, copies } = createManager();
    const cached = cache(manager, 1, range(8));
    const same = sequenceOf(2, range(8));
    admit(manager, same);
    expect(same.computedLength).toBe(7);
    expect(copies).toEqual([[cached[1], same.blocks[1]]]);
    expect(manager.findViolations(CONTEXT_LENGTH)).toEqual([]);
  });

  it('keeps one block of what two computed at the same time', () => {
    const { manager } = createManager();
    const [first, second] = [sequenceOf(1, range(9)), sequenceOf(2, range(9))];
    admit(manager, first);
    admit(manager, second);
    expect(manager.pool.freeCount).toBe(6);
    compute(manager, first);
    compute(manager, second);
    expect(blocksOf(second, 2)).toEqual(blocksOf(first, 2));
    expect(manager.pool.freeCount).toBe(8);
    expect(manager.findViolations(CONTEXT_LENGTH)).toEqual([]);
  });

  it('shares nothing between partitions', () => {
    const { manager } = createManager();
    cache(manager, 1, range(8));
    const other = sequenceOf(2, range(9), 'b');
    admit(manager, other);
    expect(other.computedLength).toBe(0);
  });

  it('evicts the least recently used blocks, and the end of a prefix before its beginning', () => {
    const { manager } = createManager({ blockCount: 8 });
    const [first, second] = [cache(manager, 1, range(12)), cache(manager, 2, range(12, 100))];
    expect(new Set([...first, ...second]).size).toBe(6);
    const stranger = sequenceOf(3, range(12, 200));
    admit(manager, stranger);
    // Two blocks were empty; the third is the end of the older prefix.
    expect(stranger.blocks[2]).toBe(first[2]);
    release(manager, stranger, { keepsPrefix: false });
    const back = sequenceOf(4, range(12));
    admit(manager, back);
    expect(back.computedLength).toBe(8);
    expect(manager.findViolations(CONTEXT_LENGTH)).toEqual([]);
  });

  it('forks a choice by sharing the prompt and copying its last block, with or without prefix caching', () => {
    for (const prefixCaching of [true, false]) {
      const { manager, copies } = createManager({ prefixCaching });
      const first = sequenceOf(1, range(10));
      admit(manager, first);
      compute(manager, first);
      const second = new Sequence(first.group, 1);
      first.group.openSequences.add(second);
      admit(manager, second);
      expect(second.computedLength).toBe(9);
      expect(blocksOf(second, 2)).toEqual(blocksOf(first, 2));
      expect(copies).toEqual([[first.blocks[2], second.blocks[2]]]);
      expect(manager.findViolations(CONTEXT_LENGTH)).toEqual([]);
    }
  });

  it('reports a full cache, and changes nothing then', () => {
    const { manager } = createManager({ blockCount: 8 });
    const first = sequenceOf(1, range(16));
    admit(manager, first);
    const second = sequenceOf(2, range(16, 50));
    // Its four blocks are there, but then the first one could not grow.
    expect(admit(manager, second)).toBe(false);
    expect(second.slot).toBeNull();
    const third = sequenceOf(3, range(12, 50));
    expect(admit(manager, third)).toBe(true);
    expect(manager.reserve(third, 16)).toBe(true);
    expect(manager.reserve(first, 17)).toBe(false);
    expect(manager.findViolations(CONTEXT_LENGTH)).toEqual([]);
    release(manager, third, { keepsPrefix: false });
    expect(manager.reserve(first, 17)).toBe(true);
  });

  it('admits a single sequence of the whole context into a cache that holds no more', () => {
    const { manager } = createManager({ blockCount: CONTEXT_LENGTH / 4 });
    cache(manager, 1, range(30));
    const whole = sequenceOf(2, range(CONTEXT_LENGTH));
    expect(admit(manager, whole)).toBe(true);
    expect(whole.computedLength).toBe(30);
    expect(manager.findViolations(CONTEXT_LENGTH)).toEqual([]);
  });

  it('forgets what a failed sequence alone has', () => {
    const { manager } = createManager();
    const good = sequenceOf(1, range(9));
    admit(manager, good);
    compute(manager, good);
    const failed = sequenceOf(2, range(14));
    admit(manager, failed);
    compute(manager, failed);
    release(manager, failed, { keepsPrefix: false });
    const next = sequenceOf(3, range(14));
    admit(manager, next);
    expect(next.computedLength).toBe(8);
    expect(manager.findViolations(CONTEXT_LENGTH)).toEqual([]);
  });

  it('does not publish tokens after which no token was sampled', () => {
    const { manager } = createManager();
    const running = sequenceOf(1, range(12));
    admit(manager, running);
    running.computedLength = 8;
    const next = sequenceOf(2, range(12));
    admit(manager, next);
    expect(next.computedLength).toBe(0);
  });

  it('keeps no beginning of a block that it keeps whole', () => {
    const { manager } = createManager();
    const short = cache(manager, 1, range(7));
    cache(manager, 2, range(9));
    expect(short.filter(block => manager.index.has(block))).toEqual([short[0]]);
    expect(manager.findViolations(CONTEXT_LENGTH)).toEqual([]);
  });
});

describe('findBlockCacheViolations', () => {
  type Break = (manager: BlockCacheManager, sequence: Sequence) => unknown;

  function violationsAfter(breakIt: Break): string {
    const { manager } = createManager();
    const sequence = sequenceOf(1, range(9));
    admit(manager, sequence);
    compute(manager, sequence);
    cache(manager, 2, [...range(8), 70, 71, 72, 73, 74]);
    expect(manager.findViolations(CONTEXT_LENGTH)).toEqual([]);
    breakIt(manager, sequence);
    return manager.findViolations(CONTEXT_LENGTH).join(' ');
  }

  it.each<[string, Break]>([
    ['believes its slot is 3', (_, sequence) => (sequence.place = { slot: 3, blocks: sequence.blocks })],
    ['has no pending token', (_, sequence) => (sequence.computedLength = sequence.tokenCount)],
    ['has ended', (_, sequence) => sequence.group.openSequences.clear()],
    [
      'has the blocks of another place',
      (_, sequence) => (sequence.place = { slot: 0, blocks: new Int32Array(8) }),
    ],
    ['has a block twice', (_, sequence) => (sequence.blocks[1] = sequence.blocks[0]!)],
    [
      'has 3 blocks for 14 tokens',
      (_, sequence) => {
        for (const tokenId of range(4)) sequence.append(tokenId);
      },
    ],
    ['has published what is not computed', (_, sequence) => (sequence.computedLength = 7)],
    ['which it will write', (manager, sequence) => manager.pool.retain(sequence.blocks[2]!)],
    ['which others may find', (_, sequence) => (sequence.computedLength = 7)],
    ['holds something else', (_, sequence) => (sequence.tokenIds[2] = 55)],
    ['counted 2 times', (manager, sequence) => manager.pool.retain(sequence.blocks[2]!)],
    ['in 0 tables but counted 1 times', manager => manager.pool.take()],
    ['have blocks but 1 are counted', manager => (manager.owners[1]!.sequence = sequenceOf(9, [1]))],
    ['has blocks but no sequence', manager => (manager.owners[1]!.blockCount = 1)],
    [
      'would be given out first',
      manager => {
        const kept = manager.pool.freeBlocks().filter(block => manager.index.has(block));
        manager.pool.move(kept[0]!, { isKept: true });
      },
    ],
  ])('says: %s', (words, breakIt) => {
    expect(violationsAfter(breakIt)).toContain(words);
  });
});
