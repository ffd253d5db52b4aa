import { expect, it } from 'vitest';
import { dequantiseRows } from '../../test/dequantise.ts';
import { fillSeeded } from '../testing/seeded-weights.ts';
import { dequantiseRows4 } from './dequantise-rows.ts';
import { allocateQuantisedRows, quantiseRows4 } from './quantise.ts';

// One block, whole blocks, an odd number of them, and a last one that is not whole.
it.each([1, 64, 128, 192, 80, 161])('dequantises the codes of rows of %i elements', width => {
  const values = new Float32Array(3 * width);
  fillSeeded(values, { seed: width, name: 'rows', scale: 1 });
  const rows = allocateQuantisedRows(3, width, 4);
  quantiseRows4(values, width, rows);
  const dequantised = new Float32Array(3 * width).fill(Number.NaN);
  dequantiseRows4(rows, width, dequantised);
  expect(dequantised).toEqual(dequantiseRows(rows, width, 4));
});
