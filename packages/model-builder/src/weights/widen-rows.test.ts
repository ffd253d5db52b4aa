import { expect, it } from 'vitest';
import { dequantiseRows } from '../../test/dequantise.ts';
import { fillSeeded } from '../testing/seeded-weights.ts';
import { allocateQuantisedRows, quantiseRows4 } from './quantise.ts';
import { widenRows4 } from './widen-rows.ts';

// One block, whole blocks, an odd number of them, and a last one that is not whole.
it.each([1, 64, 128, 192, 80, 161])('gives what the codes of rows of %i stand for', width => {
  const values = new Float32Array(3 * width);
  fillSeeded(values, { seed: width, name: 'rows', scale: 1 });
  const rows = allocateQuantisedRows(3, width, 4);
  quantiseRows4(values, width, rows);
  const widened = new Float32Array(3 * width).fill(Number.NaN);
  widenRows4(rows, width, widened);
  expect(widened).toEqual(dequantiseRows(rows, width, 4));
});
