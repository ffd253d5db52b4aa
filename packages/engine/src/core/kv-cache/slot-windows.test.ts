import { describe, expect, it } from 'vitest';
import { admit, createSequence, release } from '../../testing/create-sequence.ts';
import type { Sequence } from '../sequence.ts';
import { SlotCacheManager, type SlotCacheSettings } from './slot-cache-manager.ts';
import { findWindowViolations } from './slot-windows.ts';

// After a window of 4 tokens there are 6 more; pieces of 2 positions.
const CAPACITY = 9;

function createManager(settings: Partial<SlotCacheSettings> = {}, pieceCount = 20) {
  const moves: string[] = [];
  const move = (words: string) => {
    moves.push(words);
  };
  const rings = {
    window: 4,
    capacity: CAPACITY,
    pieceLength: 2,
    pieceCount,
    save: (slot: number, start: number, entry: number) => move(`save ${slot} at ${start} as ${entry}`),
    load: (slot: number, start: number, entry: number) => move(`load ${entry} to ${slot} at ${start}`),
  };
  const mover = {
    copySlot: (from: number, to: number) => move(`copy ${from} to ${to}`),
    swapSlots: () => {},
  };
  const sizes = { slotCount: 3, maxSequences: 3, prefixCaching: true, blockLength: 2, rings };
  const manager = new SlotCacheManager(mover, { ...sizes, ...settings });
  return { manager, moves };
}

const violationsOf = ({ windows, slots }: SlotCacheManager) => findWindowViolations(windows!, slots);

const prompt = (length: number, rest: readonly number[] = []) =>
  Int32Array.from([...Array.from({ length }, (_, index) => index), ...rest]);

function start(
  manager: SlotCacheManager,
  requestId: number,
  promptTokenIds: Int32Array<ArrayBuffer>,
  cachePartition = '',
) {
  const sequence = createSequence(requestId, 0, { promptTokenIds, cachePartition });
  admit(manager, sequence);
  return sequence;
}

/** In chunks of two tokens. */
function compute(manager: SlotCacheManager, sequence: Sequence): void {
  while (sequence.computedLength < sequence.tokenCount) {
    const end = Math.min(sequence.tokenCount, sequence.computedLength + 2);
    manager.reserve(sequence, end);
    sequence.computedLength = end;
    expect(violationsOf(manager)).toEqual([]);
  }
}

function cache(
  manager: SlotCacheManager,
  requestId: number,
  tokens: Int32Array<ArrayBuffer>,
  partition = '',
): number {
  const sequence = start(manager, requestId, tokens, partition);
  const slot = sequence.slot!;
  compute(manager, sequence);
  release(manager, sequence, { keepsPrefix: true });
  return slot;
}

describe('SlotWindows', () => {
  it('saves pieces before the ring overwrites them, and none of a sequence that it holds', () => {
    const { manager, moves } = createManager();
    cache(manager, 1, prompt(CAPACITY));
    expect(moves).toEqual([]);
    cache(
      manager,
      2,
      prompt(13, []).map(id => id + 500),
    );
    expect(moves).toEqual(['save 1 at 0 as 0', 'save 1 at 2 as 1']);
  });

  it.each([1, 2, 3, 5, 8, 11, 14, 19, 26, 29])(
    'finds all of %i shared tokens of a long cached prompt',
    length => {
      const { manager } = createManager({ blockLength: 1 });
      cache(manager, 1, prompt(30));
      const next = start(manager, 2, prompt(length, [500, 501]));
      expect(next.computedLength).toBe(length);
      compute(manager, next);
      expect(violationsOf(manager)).toEqual([]);
    },
  );

  it('loads the pieces of one window into the copy', () => {
    const { manager, moves } = createManager();
    cache(manager, 1, prompt(30));
    moves.length = 0;
    start(manager, 2, prompt(9, [500, 501]));
    expect(moves).toEqual(['copy 0 to 1', 'load 3 to 1 at 6', 'load 4 to 1 at 8']);
  });

  it('loads pieces into the slot itself, where it is the one to be evicted', () => {
    const { manager, moves } = createManager({ slotCount: 1, maxSequences: 1 });
    cache(manager, 1, prompt(30));
    moves.length = 0;
    const next = start(manager, 2, prompt(9, [500, 501]));
    expect(next.computedLength).toBe(9);
    expect(moves).toEqual(['load 3 to 0 at 6', 'load 4 to 0 at 8']);
    // The piece that held tokens of both is saved again when it is the new one's.
    compute(manager, next);
    expect([...manager.slots[0]!.pieces.keys()]).toEqual([0, 2, 4, 6]);
  });

  it('saves a piece once for all slots with the same tokens', () => {
    const { manager, moves } = createManager();
    const [first, second] = [start(manager, 1, prompt(16, [500])), start(manager, 2, prompt(16, [600]))];
    compute(manager, first);
    compute(manager, second);
    expect(moves.filter(move => move.startsWith('save'))).toHaveLength(4);
    expect([...manager.slots[1]!.pieces.keys()]).toEqual([0, 2, 4, 6]);
    release(manager, first, { keepsPrefix: false });
    expect(manager.windows!.held.size).toBe(4);
    release(manager, second, { keepsPrefix: false });
    expect(manager.windows!.held.size).toBe(0);
  });

  it('shares no piece between partitions', () => {
    const { manager, moves } = createManager();
    cache(manager, 1, prompt(16), 'a');
    cache(manager, 2, prompt(16), 'b');
    expect(moves.filter(move => move.startsWith('save'))).toHaveLength(8);
    expect(start(manager, 3, prompt(6, [500]), 'c').computedLength).toBe(0);
  });

  it('evicts pieces that no other sequence used, from the end, and hits end before them', () => {
    const { manager } = createManager({}, 6);
    cache(manager, 1, prompt(20));
    const used = start(manager, 2, prompt(4, [500]));
    expect(used.computedLength).toBe(4);
    release(manager, used, { keepsPrefix: false });
    // Four pieces more: those at 4, 6, 8 and 10 of the first go, those at 0 and 2 were used.
    cache(
      manager,
      3,
      prompt(17).map(id => id + 500),
    );
    expect([...manager.slots[0]!.pieces.keys()]).toEqual([0, 2]);
    expect(violationsOf(manager)).toEqual([]);
    expect(start(manager, 4, prompt(9, [700])).computedLength).toBe(4);
  });

  it('keeps the beginning of a sequence that is longer than the pool', () => {
    const { manager } = createManager({}, 3);
    cache(manager, 1, prompt(60));
    expect([...manager.slots[0]!.pieces.keys()].slice(0, 2)).toEqual([0, 2]);
    expect(start(manager, 2, prompt(4, [500])).computedLength).toBe(4);
  });

  it('saves nothing without prefix caching, and nothing where the pool has no entry', () => {
    for (const { manager, moves } of [createManager({ prefixCaching: false }), createManager({}, 0)]) {
      cache(manager, 1, prompt(30));
      expect(moves).toEqual([]);
      expect(start(manager, 2, prompt(9, [500])).computedLength).toBe(0);
    }
  });

  it('keeps no piece of a draft', () => {
    const { manager, moves } = createManager();
    const sequence = start(manager, 1, prompt(8));
    manager.reserve(sequence, 8);
    sequence.computedLength = 8;
    manager.reserve(sequence, 14);
    expect(moves).toEqual(['save 0 at 0 as 0', 'save 0 at 2 as 1', 'save 0 at 4 as 2']);
    expect(violationsOf(manager)).toEqual([]);
  });

  it.each<[string, (manager: SlotCacheManager) => void]>([
    ['has lost positions that its next token attends to', ({ slots }) => (slots[0]!.lostLength = 28)],
    [
      'has a piece of tokens that it does not hold',
      ({ slots }) => (slots[0]!.cached = { partition: '', tokenIds: Int32Array.of(1) }),
    ],
    ['which is not its own', ({ slots }) => slots[1]!.pieces.set(0, slots[0]!.pieces.get(0)!)],
    ['does not know its piece', ({ slots }) => slots[0]!.pieces.delete(0)],
    ['pieces are held', ({ windows }) => (windows!.freeEntries as number[]).pop()],
    ['has no holder', ({ slots }) => slots[0]!.pieces.get(0)!.holders.clear()],
  ])('its invariants say: %s', (words, breakIt) => {
    const { manager } = createManager();
    cache(manager, 1, prompt(30));
    expect(violationsOf(manager)).toEqual([]);
    breakIt(manager);
    expect(violationsOf(manager).join(' ')).toContain(words);
  });
});
