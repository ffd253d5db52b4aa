import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BlockPool } from './block-pool.ts';

const BLOCK_COUNT = 6;

describe('BlockPool', () => {
  it('behaves as a list of free blocks beside counts of uses', () => {
    const actions = fc.array(
      fc.record({
        action: fc.constantFrom('take', 'take', 'retain', 'release', 'release', 'move'),
        pick: fc.nat({ max: BLOCK_COUNT - 1 }),
        isKept: fc.boolean(),
      }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(actions, steps => {
        const pool = new BlockPool(BLOCK_COUNT);
        const free = Array.from({ length: BLOCK_COUNT }, (_, block) => block);
        const uses = new Array<number>(BLOCK_COUNT).fill(0);
        const putBack = (block: number, isKept: boolean) => (isKept ? free.push(block) : free.unshift(block));
        const drop = (block: number) => free.splice(free.indexOf(block), 1);
        for (const { action, pick, isKept } of steps) {
          if (action === 'take' && free.length > 0) {
            expect(pool.take()).toBe(free[0]);
            uses[free.shift()!] = 1;
          } else if (action === 'retain') {
            if (uses[pick] === 0) drop(pick);
            uses[pick]!++;
            pool.retain(pick);
          } else if (action === 'release' && uses[pick]! > 0) {
            if (--uses[pick]! === 0) putBack(pick, isKept);
            pool.release(pick, { isKept });
          } else if (action === 'move' && uses[pick] === 0) {
            drop(pick);
            putBack(pick, isKept);
            pool.move(pick, { isKept });
          }
          expect(pool.freeBlocks()).toEqual(free);
          expect(pool.freeCount).toBe(free.length);
          expect(uses.map((_, block) => pool.useCount(block))).toEqual(uses);
        }
      }),
    );
  });

  it('gives out no block that is in use', () => {
    const pool = new BlockPool(1);
    pool.take();
    expect(() => pool.take()).toThrow(/only while one is free/);
    expect(() => new BlockPool(1).release(0, { isKept: true })).toThrow(/was in use/);
  });
});
