import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashBlock, hashPartition } from './block-hash.ts';

const blocks = fc.array(fc.nat({ max: 200_000 }), { minLength: 4, maxLength: 4 });

describe('block hashes', () => {
  it('are whole numbers that JavaScript holds exactly', () => {
    fc.assert(
      fc.property(fc.string(), blocks, (partition, block) => {
        const hash = hashBlock(hashPartition(partition), Int32Array.from(block), 0, 4);
        expect(Number.isSafeInteger(hash)).toBe(true);
      }),
    );
  });

  it('depend on the partition, on every token, on their order and on everything before', () => {
    const hashes = new Set<number>();
    let count = 0;
    for (const partition of ['', 'a', 'b', 'ab', 'ba'])
      for (let first = 0; first < 20; first++)
        for (let second = 0; second < 20; second++)
          for (const parent of [
            hashPartition(partition),
            hashBlock(hashPartition(partition), Int32Array.of(7), 0, 1),
          ]) {
            hashes.add(hashBlock(parent, Int32Array.of(first, second), 0, 2));
            count++;
          }
    expect(hashes.size).toBe(count);
  });

  it('are the same for the same tokens wherever they stand in the array', () => {
    const parent = hashPartition('x');
    expect(hashBlock(parent, Int32Array.of(9, 1, 2, 3), 1, 3)).toBe(
      hashBlock(parent, Int32Array.of(1, 2, 3), 0, 3),
    );
  });
});
