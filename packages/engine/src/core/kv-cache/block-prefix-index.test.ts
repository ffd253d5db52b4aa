import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BlockHashing } from './block-hash.ts';
import { BlockPrefixIndex, NO_BLOCK } from './block-prefix-index.ts';

/** All prefixes have the same name, so that only the tokens tell them apart. */
const COLLIDING: BlockHashing = { hashPartition: () => 7, hashBlock: () => 7 };

function placeOf(tokens: readonly number[], parent = NO_BLOCK, start = 0, partition = '') {
  return { partition, parent, tokenIds: Int32Array.from(tokens), start };
}

describe('BlockPrefixIndex', () => {
  it.each([
    ['hashes', undefined],
    ['hashes that all collide', COLLIDING],
  ])('finds a full block by its tokens and by everything before them, with %s', (_, hashing) => {
    const index = new BlockPrefixIndex(8, 2, hashing);
    index.add(3, placeOf([1, 2]), 2);
    index.add(5, placeOf([1, 2, 1, 2], 3, 2), 2);
    index.add(6, placeOf([1, 2], NO_BLOCK, 0, 'b'), 2);
    expect(index.findFull(placeOf([1, 2]))).toBe(3);
    expect(index.findFull(placeOf([9, 9, 1, 2], 3, 2))).toBe(5);
    expect(index.findFull(placeOf([1, 2], NO_BLOCK, 0, 'b'))).toBe(6);
    expect(index.findFull(placeOf([1, 3]))).toBe(NO_BLOCK);
    expect(index.findFull(placeOf([1, 2], NO_BLOCK, 0, 'c'))).toBe(NO_BLOCK);
    expect(index.findFull(placeOf([1, 2], 5))).toBe(NO_BLOCK);
  });

  it('finds the block that begins with most of the tokens, full or not, up to the limit', () => {
    const index = new BlockPrefixIndex(8, 4);
    index.add(0, placeOf([1, 2, 3, 4]), 4);
    index.add(1, placeOf([1, 2, 9]), 3);
    expect(index.findBeginning(placeOf([1, 2, 3, 9]), 4)).toEqual({ block: 0, length: 3 });
    expect(index.findBeginning(placeOf([1, 2, 9, 9]), 4)).toEqual({ block: 1, length: 3 });
    expect(index.findBeginning(placeOf([1, 2, 3, 4]), 1)?.length).toBe(1);
    expect(index.findBeginning(placeOf([2, 2]), 2)).toBeNull();
    expect(index.findBeginning(placeOf([1, 2]), 0)).toBeNull();
  });

  it('forgets a block when nothing follows it any more, and only then', () => {
    const index = new BlockPrefixIndex(8, 2);
    index.add(0, placeOf([1, 2]), 2);
    index.add(1, placeOf([1, 2, 3], 0, 2), 1);
    expect(index.hasFollowers(0)).toBe(true);
    expect(() => index.remove(0)).toThrow(/forgotten first/);
    index.remove(1);
    index.remove(0);
    expect([index.entryCount, index.has(0), index.has(1)]).toEqual([0, false, false]);
    expect(index.findFull(placeOf([1, 2]))).toBe(NO_BLOCK);
  });

  it('holds exactly what was added and not removed', () => {
    const prefixes = fc.array(fc.array(fc.nat({ max: 2 }), { minLength: 2, maxLength: 6 }), { maxLength: 8 });
    fc.assert(
      fc.property(prefixes, lists => {
        const index = new BlockPrefixIndex(64, 2);
        const paths = new Map<string, number>();
        for (const tokens of lists) {
          let parent = NO_BLOCK;
          for (let start = 0; start + 2 <= tokens.length; start += 2) {
            const place = placeOf(tokens, parent, start);
            const path = tokens.slice(0, start + 2).join();
            expect(index.findFull(place)).toBe(paths.get(path) ?? NO_BLOCK);
            if (!paths.has(path)) {
              index.add(paths.size, place, 2);
              paths.set(path, paths.size);
            }
            parent = paths.get(path)!;
          }
        }
        expect(index.entryCount).toBe(2 * paths.size);
        for (const block of [...paths.values()].reverse()) index.remove(block);
        expect(index.entryCount).toBe(0);
      }),
    );
  });
});
