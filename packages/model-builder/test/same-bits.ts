// Equality of logits bit for bit, with a short message: vitest's own comparison prints whole arrays.

import { expect } from 'vitest';

/** Compares with Object.is, so that also zeros of both signs differ. */
export function expectSameBits(actual: readonly Float32Array[], expected: readonly Float32Array[]): void {
  expect(actual.length).toBe(expected.length);
  for (const [row, values] of expected.entries()) {
    const own = actual[row]!;
    expect(own.length, `row ${row}`).toBe(values.length);
    const place = values.findIndex((value, i) => !Object.is(value, own[i]));
    expect({ row, place, value: own[place] }).toEqual({ row, place: -1, value: undefined });
    // Logits that are all zero or no numbers would be equal by accident.
    expect(values.every(Number.isFinite) && values.some(value => value !== 0)).toBe(true);
  }
}
