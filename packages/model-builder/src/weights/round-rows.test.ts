import { expect, it } from 'vitest';
import { dequantiseRows } from '../../test/dequantise.ts';
import { fillSeeded } from '../testing/seeded-weights.ts';
import { allocateQuantisedRows, quantiseRows4 } from './quantise.ts';
import { roundRows4 } from './round-rows.ts';

// One block, whole blocks, an odd number of them, and a last one that is not whole.
it.each([1, 64, 128, 192, 80, 161])('leaves what the codes of rows of %i stand for', width => {
  const values = new Float32Array(3 * width);
  fillSeeded(values, { seed: width, name: 'rows', scale: 1 });
  const codes = allocateQuantisedRows(3, width, 4);
  quantiseRows4(values, width, codes);
  const original = values.slice();
  roundRows4(values, width);
  expect(values).toEqual(dequantiseRows(codes, width, 4));
  if (width > 1) expect(values).not.toEqual(original);
});
