import { describe, expect, it } from 'vitest';
import { admit, createSequence, release } from '../../testing/create-sequence.ts';
import { Sequence } from '../sequence.ts';
import { findSlotCacheViolations } from './slot-cache-invariants.ts';
import { SlotCacheManager, type SlotCacheSettings } from './slot-cache-manager.ts';

type Move = readonly ['copy' | 'swap', number, number, number];

function createManager(settings: Partial<SlotCacheSettings> = {}) {
  const moves: Move[] = [];
  const manager = new SlotCacheManager(
    {
      copySlot: (from, to, length) => moves.push(['copy', from, to, length]),
      swapSlots: (a, b, length) => moves.push(['swap', a, b, length]),
    },
    { slotCount: 4, maxSequences: 4, prefixCaching: true, blockLength: 2, ...settings },
  );
  return { manager, moves };
}

function sequenceOf(requestId: number, promptTokenIds: readonly number[], cachePartition = ''): Sequence {
  return createSequence(requestId, 0, { promptTokenIds: Int32Array.from(promptTokenIds), cachePartition });
}

/** As the steps of its prompt would leave it. */
function compute(sequence: Sequence): Sequence {
  sequence.computedLength = sequence.tokenCount;
  return sequence;
}

/** Computes the prompt and the output of that many tokens, and says so as the scheduler does. */
function computeWith(manager: SlotCacheManager, sequence: Sequence, outputLength = 0): Sequence {
  for (let i = 0; i < outputLength; i++) sequence.append(1_000 + i);
  manager.reserve(sequence, sequence.tokenCount);
  return compute(sequence);
}

/** Runs a request to its end and leaves its prompt in the cache. */
function cache(
  manager: SlotCacheManager,
  requestId: number,
  prompt: readonly number[],
  partition = '',
): number {
  const sequence = sequenceOf(requestId, prompt, partition);
  admit(manager, sequence);
  const slot = sequence.slot!;
  computeWith(manager, sequence);
  release(manager, sequence, { keepsPrefix: true });
  return slot;
}

describe('SlotCacheManager', () => {
  it('takes over a cached prefix that the prompt continues, without a copy', () => {
    const { manager, moves } = createManager();
    const slot = cache(manager, 1, [1, 2, 3, 4]);
    const next = sequenceOf(2, [1, 2, 3, 4, 5, 6]);
    admit(manager, next);
    expect(next).toMatchObject({ slot, computedLength: 4 });
    expect(moves).toEqual([]);
    expect(manager.counters).toEqual({ queriedTokenCount: 10, hitTokenCount: 4 });
  });

  it('copies the shared part of a cached prefix that goes on differently, and keeps the prefix', () => {
    const { manager, moves } = createManager();
    const slot = cache(manager, 1, [1, 2, 3, 4]);
    const next = sequenceOf(2, [1, 2, 3, 9, 9]);
    admit(manager, next);
    expect(moves).toEqual([['copy', slot, next.slot, 3]]);
    expect(next.computedLength).toBe(3);
    const again = sequenceOf(3, [1, 2, 3, 4, 4]);
    admit(manager, again);
    expect(again.computedLength).toBe(4);
  });

  it('takes over a long cached prefix with a short rest, which costs less than a copy', () => {
    const shared = Array.from({ length: 64 }, (_, index) => index);
    for (const [restLength, isCopied] of [
      [2, false],
      [3, true],
    ] as const) {
      const { manager, moves } = createManager();
      const rest = Array.from({ length: restLength }, (_, index) => 100 + index);
      const slot = cache(manager, 1, [...shared, ...rest]);
      const next = sequenceOf(2, [...shared, 200, 201]);
      admit(manager, next);
      expect(next.computedLength).toBe(64);
      expect(moves).toEqual(isCopied ? [['copy', slot, next.slot, 64]] : []);
      expect(next.slot === slot).toBe(!isCopied);
      expect(manager.findViolations(1000)).toEqual([]);
    }
  });

  it('copies from a sequence that still runs', () => {
    const { manager, moves } = createManager();
    const running = sequenceOf(1, [1, 2, 3, 4, 5]);
    admit(manager, running);
    running.computedLength = 4;
    const next = sequenceOf(2, [1, 2, 3, 4, 5, 6]);
    admit(manager, next);
    expect(moves).toEqual([['copy', 0, 1, 4]]);
  });

  it('leaves the last token of a prompt to be computed', () => {
    const { manager } = createManager();
    cache(manager, 1, [1, 2, 3, 4]);
    const same = sequenceOf(2, [1, 2, 3, 4]);
    admit(manager, same);
    expect(same.computedLength).toBe(3);
    expect(same.group.cachedTokenCount).toBe(3);
  });

  it('shares nothing between partitions', () => {
    const { manager } = createManager();
    cache(manager, 1, [1, 2, 3, 4], 'a');
    const other = sequenceOf(2, [1, 2, 3, 4], 'b');
    admit(manager, other);
    expect(other.computedLength).toBe(0);
  });

  it('evicts the least recently used prefix, and takes empty slots first', () => {
    const { manager } = createManager({ slotCount: 3, maxSequences: 3 });
    const [first, second, third] = [
      cache(manager, 1, [1, 1, 1, 1]),
      cache(manager, 2, [2, 2, 2, 2]),
      cache(manager, 3, [3, 3, 3, 3]),
    ];
    expect(new Set([first, second, third]).size).toBe(3);
    // A use of the first one makes the second one the oldest.
    expect(cache(manager, 4, [1, 1, 1, 1, 5])).toBe(first);
    const stranger = sequenceOf(5, [9, 9, 9]);
    admit(manager, stranger);
    expect(stranger.slot).toBe(second);
    const back = sequenceOf(6, [3, 3, 3, 3, 3]);
    admit(manager, back);
    expect(back).toMatchObject({ slot: third, computedLength: 4 });
  });

  it('caches nothing without keepsPrefix or prefix caching, but still shares the prompt of choices', () => {
    const { manager } = createManager({ prefixCaching: false });
    cache(manager, 1, [1, 2, 3, 4]);
    const [first, second] = [sequenceOf(2, [1, 2, 3, 4]), sequenceOf(3, [1, 2, 3, 4])];
    admit(manager, first);
    expect(first.computedLength).toBe(0);
    compute(first);
    admit(manager, second);
    expect(second.computedLength).toBe(0);
    second.group.openSequences.add(first);
    release(manager, second, { keepsPrefix: true });
    admit(manager, second);
    expect(second.computedLength).toBe(3);

    const caching = createManager().manager;
    const failed = sequenceOf(1, [1, 2, 3, 4]);
    admit(caching, failed);
    compute(failed);
    release(caching, failed, { keepsPrefix: false });
    const next = sequenceOf(2, [1, 2, 3, 4]);
    admit(caching, next);
    expect(next.computedLength).toBe(0);
  });

  it('computes a prompt whose log probabilities are asked for, until they are reported', () => {
    const { manager } = createManager();
    cache(manager, 1, [1, 2, 3, 4]);
    const sequence = createSequence(2, 0, {
      promptTokenIds: Int32Array.of(1, 2, 3, 4),
      promptLogprobs: { topCount: 0 },
    });
    admit(manager, sequence);
    expect(sequence.computedLength).toBe(0);
    compute(sequence);
    sequence.append(5);
    sequence.group.isPrefilled = true;
    release(manager, sequence, { keepsPrefix: true });
    admit(manager, sequence);
    expect(sequence.computedLength).toBe(4);
    expect(sequence.group.cachedTokenCount).toBe(0);
  });

  it('lets no more sequences own slots than may run, and uses the others for prefixes', () => {
    const { manager } = createManager({ slotCount: 3, maxSequences: 1 });
    cache(manager, 1, [1, 1, 1]);
    cache(manager, 2, [2, 2, 2]);
    cache(manager, 3, [3, 3, 3]);
    expect(manager.slots.filter(slot => slot.cached !== null)).toHaveLength(3);
    const running = sequenceOf(4, [1, 1, 1, 1]);
    admit(manager, running);
    expect(running.computedLength).toBe(3);
    expect(manager.freeCount).toBe(0);
    expect(manager.usedShare).toBe(1);
    expect(() => manager.admit(sequenceOf(5, [2, 2]))).toThrow(/a slot is free/);
  });

  it('brings decodes to the front with one move for each that is outside, and keeps what was there', () => {
    const { manager, moves } = createManager();
    const sequences = [1, 2, 3, 4].map(id => sequenceOf(id, [id, id, id]));
    for (const sequence of sequences) {
      admit(manager, sequence);
      compute(sequence).append(9);
    }
    release(manager, sequences[0]!, { keepsPrefix: true });
    release(manager, sequences[2]!, { keepsPrefix: false });
    const decodes = [sequences[1]!, sequences[3]!];
    manager.arrange(decodes);
    expect(moves).toEqual([['swap', 3, 0, 3]]);
    expect(decodes.map(sequence => sequence.slot).sort()).toEqual([0, 1]);
    expect(findSlotCacheViolations(manager, 100)).toEqual([]);
    manager.arrange(decodes);
    expect(moves).toHaveLength(1);
    const back = sequenceOf(5, [1, 1, 1, 1]);
    admit(manager, back);
    expect(back).toMatchObject({ slot: 3, computedLength: 3 });
  });

  it('copies instead of exchanging where nothing is lost', () => {
    const { manager, moves } = createManager({ prefixCaching: false });
    const [first, second] = [sequenceOf(1, [1, 1, 1]), sequenceOf(2, [2, 2, 2])];
    admit(manager, first);
    admit(manager, second);
    compute(second);
    const third = sequenceOf(3, [3, 3, 3]);
    admit(manager, third);
    compute(third);
    release(manager, first, { keepsPrefix: true });
    manager.arrange([second, third]);
    expect(moves).toEqual([['copy', 2, 0, 3]]);
  });

  it('leaves a single decode in its slot, so that conversations can take turns without moving', () => {
    const { manager, moves } = createManager();
    const [first, second] = [sequenceOf(1, [1, 1, 1]), sequenceOf(2, [2, 2, 2])];
    admit(manager, first);
    compute(first).append(9);
    release(manager, first, { keepsPrefix: true });
    admit(manager, second);
    const decodes = [compute(second)];
    manager.arrange(decodes);
    expect({ moves, decodes, slot: second.slot }).toEqual({ moves: [], decodes: [second], slot: 1 });
  });
});

describe('findSlotCacheViolations', () => {
  function violationsAfter(breakIt: (manager: SlotCacheManager, sequence: Sequence) => void): string {
    const { manager } = createManager({ maxSequences: 2 });
    const sequence = sequenceOf(1, [1, 2, 3, 4, 5]);
    admit(manager, sequence);
    sequence.computedLength = 4;
    admit(manager, sequenceOf(2, [1, 2, 3, 4, 5]));
    expect(findSlotCacheViolations(manager, 10)).toEqual([]);
    breakIt(manager, sequence);
    return findSlotCacheViolations(manager, 10).join(' ');
  }

  it.each<[string, (manager: SlotCacheManager, sequence: Sequence) => void]>([
    ['believes its slot is 3', (_, sequence) => (sequence.place = { slot: 3, blocks: sequence.blocks })],
    ['has no pending token', (_, sequence) => compute(sequence)],
    ['has ended', (_, sequence) => sequence.group.openSequences.clear()],
    [
      'is longer than the context',
      (_, sequence) => {
        for (let i = 0; i < 9; i++) sequence.append(i);
      },
    ],
    ['A sequence owns two slots', (manager, sequence) => (manager.slots[3]!.owner = sequence)],
    ['at most 2 may', manager => (manager.slots[3]!.owner = sequenceOf(9, [1]))],
    ['believes its place is 7', manager => (manager.slots[3]!.slot = 7)],
    [
      'is owned and holds a cached prefix',
      manager => (manager.slots[0]!.cached = { partition: '', tokenIds: Int32Array.of(1) }),
    ],
    [
      'holds a prefix of no tokens',
      manager => (manager.slots[3]!.cached = { partition: '', tokenIds: new Int32Array(0) }),
    ],
    ['has a wrong hash of block 1', manager => (manager.slots[0]!.blockHashes[1] = 5)],
    ['has hashes of tokens that it does not hold', (_, sequence) => (sequence.computedLength = 1)],
    ['entries for', manager => manager.slots[0]!.blockHashes.pop()],
  ])('says: %s', (words, breakIt) => {
    expect(violationsAfter(breakIt)).toContain(words);
  });
});

describe('SlotCacheManager of layers that hold the last positions', () => {
  // After a window of 4 tokens there are 6 more, by which a prompt may depart from a cached one.
  const rings = { window: 4, capacity: 9, pieceLength: 1, pieceCount: 0, save: () => {}, load: () => {} };
  const WINDOWED = { rings };
  const prompt = (length: number, rest: readonly number[] = []) => [
    ...Array.from({ length }, (_, index) => index),
    ...rest,
  ];

  it.each([
    [6, 14],
    [7, 0],
  ])('%i tokens before the end of a cached prompt finds %i of them', (restLength, hitLength) => {
    const { manager } = createManager(WINDOWED);
    cache(manager, 1, prompt(14 + restLength));
    const next = sequenceOf(2, prompt(14, [500, 501]));
    admit(manager, next);
    expect(next.computedLength).toBe(hitLength);
    expect(findSlotCacheViolations(manager, 100)).toEqual([]);
  });

  it('finds any prefix of a prompt that they hold whole', () => {
    const { manager } = createManager(WINDOWED);
    cache(manager, 1, prompt(9));
    const next = sequenceOf(2, prompt(3, [500]));
    admit(manager, next);
    expect(next.computedLength).toBe(3);
  });

  it('finds a shorter prefix in a slot that still holds it, where a longer one is lost', () => {
    const { manager } = createManager(WINDOWED);
    cache(manager, 1, prompt(30));
    cache(manager, 2, prompt(8, [400, 401]));
    const next = sequenceOf(3, prompt(20, [500]));
    admit(manager, next);
    expect(next.computedLength).toBe(8);
    expect(findSlotCacheViolations(manager, 100)).toEqual([]);
  });

  it('a copy lacks what the slot that it was copied from had lost', () => {
    const { manager } = createManager({ ...WINDOWED, slotCount: 3, maxSequences: 3 });
    cache(manager, 1, prompt(20));
    const copied = sequenceOf(2, prompt(16, [500]));
    admit(manager, copied);
    expect(copied.computedLength).toBe(16);
    release(manager, computeWith(manager, copied), { keepsPrefix: true });
    // 13 tokens end 7 before the 20 that were written in the first slot, of which the other is a copy.
    const next = sequenceOf(3, prompt(13, [600]));
    admit(manager, next);
    expect(next.computedLength).toBe(0);
  });

  it('counts what was written for a draft that was not accepted', () => {
    const { manager } = createManager(WINDOWED);
    const first = sequenceOf(1, prompt(14));
    admit(manager, first);
    manager.reserve(first, 14 + 6);
    release(manager, compute(first), { keepsPrefix: true });
    const shorter = sequenceOf(2, prompt(13, [500]));
    admit(manager, shorter);
    expect(shorter.computedLength).toBe(0);
    const longer = sequenceOf(3, prompt(14, [500]));
    admit(manager, longer);
    expect(longer.computedLength).toBe(14);
  });

  it('a choice computes the prompt again when its sibling has gone on too far', () => {
    for (const [outputLength, hitLength] of [
      [6, 14],
      [7, 0],
    ] as const) {
      const { manager } = createManager({ ...WINDOWED, prefixCaching: false });
      const first = sequenceOf(1, prompt(15));
      admit(manager, first);
      const second = new Sequence(first.group, 1);
      first.group.openSequences.add(second);
      computeWith(manager, first, outputLength - 1);
      admit(manager, second);
      expect(second.computedLength).toBe(hitLength);
    }
  });

  it('a slot that was emptied has lost nothing', () => {
    const { manager } = createManager({ ...WINDOWED, slotCount: 1, maxSequences: 1 });
    cache(manager, 1, prompt(40));
    cache(manager, 2, [700, 701, 702, 703, 704]);
    const next = sequenceOf(3, [700, 701, 702, 800]);
    admit(manager, next);
    expect(next.computedLength).toBe(3);
  });

  it('reports a slot that has lost what its next token attends to', () => {
    const { manager } = createManager(WINDOWED);
    const first = sequenceOf(1, prompt(14));
    admit(manager, first);
    manager.reserve(first, 14 + 7);
    release(manager, compute(first), { keepsPrefix: true });
    expect(findSlotCacheViolations(manager, 100)).toEqual([
      expect.stringContaining('lost positions that its next token attends to'),
    ]);
  });
});
