import { describe, expect, it } from 'vitest';
import type { KvPool } from './slot-store.ts';
import { createWindowRings } from './window-rings.ts';

const CAPACITY = 256;
const DEMAND = { window: 20, capacity: CAPACITY, slotCount: 2, contextLength: 1_000 };

/** A ring of three slots, each element of which is its index. */
function createPool(kvHeadCount: number, rowLength: number): KvPool {
  const data = Float32Array.from({ length: 3 * kvHeadCount * CAPACITY * rowLength }, (_, index) => index);
  return { layer: 0, part: 'key', kvHeadCount, rowLength, capacity: CAPACITY, isRing: true, data };
}

describe('createWindowRings', () => {
  it('has as many pieces as all slots can lose', () => {
    const rings = createWindowRings([createPool(2, 4), createPool(1, 8)], DEMAND);
    // 744 positions a slot.
    expect(rings).toMatchObject({ window: 20, capacity: CAPACITY, pieceLength: 64, pieceCount: 24 });
    expect(rings.byteLength).toBe(24 * 64 * (2 * 4 + 8) * 4);
  });

  it('has at most 512 MiB of pieces', () => {
    const rings = createWindowRings([createPool(2, 4)], { ...DEMAND, contextLength: 2 ** 30 });
    expect(rings.pieceCount).toBe(2 ** 29 / (64 * 2 * 4 * 4));
  });

  it('puts the positions of a piece back where they were, in the ring of any slot, and changes nothing else', () => {
    const pools = [createPool(2, 4), createPool(1, 8)];
    const rings = createWindowRings(pools, DEMAND);
    const before = pools.map(({ data }) => data.slice());
    // Position 320 is at place 64 of the ring.
    rings.save(2, 320, 5);
    for (const { data } of pools) data.fill(-1);
    rings.load(0, 320, 5);
    for (const [index, { data, kvHeadCount, rowLength }] of pools.entries()) {
      const slotLength = kvHeadCount * CAPACITY * rowLength;
      const isRestored = (at: number) => {
        const place = Math.floor(at / rowLength) % CAPACITY;
        return at < slotLength && place >= 64 && place < 128;
      };
      const expected = data.map((_, at) => (isRestored(at) ? before[index]![2 * slotLength + at]! : -1));
      expect(data).toEqual(expected);
    }
  });
});
