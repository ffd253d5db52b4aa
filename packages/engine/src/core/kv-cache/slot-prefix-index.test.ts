import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BlockHashing } from './block-hash.ts';
import { CacheSlot } from './cache-slot.ts';
import { SlotPrefixIndex } from './slot-prefix-index.ts';

/** All prefixes of all partitions have the same name. */
const COLLIDING: BlockHashing = { hashPartition: () => 1, hashBlock: () => 1 };

function cachedSlot(index: number, tokenIds: readonly number[], partition = ''): CacheSlot {
  const slot = new CacheSlot(index);
  slot.cached = { partition, tokenIds: Int32Array.from(tokenIds) };
  return slot;
}

function indexOf(slots: readonly CacheSlot[], hashing?: BlockHashing): SlotPrefixIndex {
  const index = new SlotPrefixIndex(2, hashing);
  for (const slot of slots) index.extend(slot);
  return index;
}

describe('SlotPrefixIndex', () => {
  it('finds the longest shared prefix, up to the limit, also inside a block', () => {
    const slots = [cachedSlot(0, [1, 2, 9, 9]), cachedSlot(1, [1, 2, 3, 4, 5])];
    const index = indexOf(slots);
    const prompt = Int32Array.of(1, 2, 3, 4, 5, 6);
    expect(index.find('', prompt, 6)).toEqual({ slot: slots[1], length: 5 });
    expect(index.find('', prompt, 3)).toMatchObject({ length: 3 });
  });

  it('finds nothing shorter than a block and nothing of another partition', () => {
    const index = indexOf([cachedSlot(0, [1, 2, 3], 'a')]);
    expect(index.find('a', Int32Array.of(1, 9, 9), 3)).toBeNull();
    expect(index.find('b', Int32Array.of(1, 2, 3), 3)).toBeNull();
    expect(index.find('a', Int32Array.of(1, 2, 3), 1)).toBeNull();
  });

  it('compares tokens and partitions where hashes collide', () => {
    const slots = [
      cachedSlot(0, [7, 8, 9, 9]),
      cachedSlot(1, [1, 2, 3, 4], 'secret'),
      cachedSlot(2, [1, 2, 8]),
    ];
    const index = indexOf(slots, COLLIDING);
    expect(index.find('', Int32Array.of(1, 2, 3, 4), 4)).toEqual({ slot: slots[2], length: 2 });
    expect(index.find('', Int32Array.of(5, 5, 5), 3)).toBeNull();
  });

  it('forgets what was cut and knows what was not', () => {
    const slot = cachedSlot(0, [1, 2, 3, 4, 5, 6]);
    const index = indexOf([slot]);
    expect(index.entryCount).toBe(3);
    index.cut(slot, 5);
    expect(index.entryCount).toBe(2);
    index.cut(slot, 0);
    expect(index.entryCount).toBe(0);
    expect(index.find('', Int32Array.of(1, 2, 3), 3)).toBeNull();
  });

  it('finds what a search of every slot finds, for prefixes of at least a block', () => {
    const content = fc.array(fc.nat({ max: 2 }), { minLength: 1, maxLength: 9 });
    const entries = fc.array(fc.record({ tokenIds: content, partition: fc.constantFrom('', 'a') }), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(entries, content, fc.boolean(), (contents, prompt, collides) => {
        const slots = contents.map(({ tokenIds, partition }, i) => cachedSlot(i, tokenIds, partition));
        const index = indexOf(slots, collides ? COLLIDING : undefined);
        const found = index.find('', Int32Array.from(prompt), prompt.length)?.length ?? 0;
        const longest = Math.max(
          0,
          ...contents
            .filter(({ partition }) => partition === '')
            .map(({ tokenIds }) => {
              const end = tokenIds.findIndex((id, i) => id !== prompt[i]);
              return end < 0 ? tokenIds.length : end;
            }),
        );
        // A collision may also show a prefix that is shorter than a block, which is a prefix all the same.
        if (collides) expect([0, longest]).toContain(found);
        else expect(found).toBe(longest >= 2 ? longest : 0);
      }),
    );
  });
});
