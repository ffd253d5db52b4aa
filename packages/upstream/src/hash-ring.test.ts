import { describe, expect, it } from 'vitest';
import { HashRing } from './hash-ring.ts';

const NAMES = ['a', 'b', 'c', 'd'];
const KEYS = Array.from({ length: 4_000 }, (_, index) => `conversation ${index}`);
const IDLE = NAMES.map(() => 0);
const all = () => true;

describe('HashRing', () => {
  it('spreads keys evenly, each always to the same server', () => {
    const ring = new HashRing(NAMES);
    const other = new HashRing(NAMES);
    const counts = [...IDLE];
    for (const key of KEYS) {
      const index = ring.choose(key, IDLE, all)!;
      counts[index]!++;
      expect(other.choose(key, IDLE, all)).toBe(index);
    }
    for (const count of counts) expect(count / KEYS.length).toBeCloseTo(0.25, 1);
  });

  it('moves only the keys of a server that is left out', () => {
    const ring = new HashRing(NAMES);
    for (const key of KEYS) {
      const before = ring.choose(key, IDLE, all)!;
      const after = ring.choose(key, IDLE, index => index !== 2)!;
      if (before === 2) expect(after).not.toBe(2);
      else expect(after).toBe(before);
    }
  });

  it('moves a key on when its server has more than its share of the open requests', () => {
    const ring = new HashRing(NAMES);
    const home = ring.choose('x', IDLE, all)!;
    const loads = NAMES.map((_, index) => (index === home ? 20 : 1));
    expect(ring.choose('x', loads, all)).not.toBe(home);
    expect(ring.choose('x', loads, index => index === home)).toBe(home);
    expect(ring.choose('x', loads, () => false)).toBeUndefined();
  });

  it('keeps conversations of many users at their servers', () => {
    const ring = new HashRing(NAMES.slice(0, 2));
    const loads = [0, 0];
    const open: number[] = [];
    const last = new Map<string, number>();
    let stayed = 0;
    let count = 0;
    // 200 conversations of five turns, 16 answers at once, each turn some time after the one before.
    for (let turn = 0; turn < 5; turn++) {
      for (const key of KEYS.slice(0, 200)) {
        if (open.length === 16) loads[open.splice((count * 7) % 16, 1)[0]!]!--;
        const index = ring.choose(key, loads, all)!;
        loads[index]!++;
        open.push(index);
        if (turn > 0) {
          count++;
          if (last.get(key) === index) stayed++;
        }
        last.set(key, index);
      }
    }
    expect(stayed / count).toBeGreaterThan(0.9);
  });
});
