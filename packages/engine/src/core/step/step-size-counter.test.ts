import { expect, it } from 'vitest';
import { STEP_SIZE_BOUNDS } from '../../protocol/core-stats.ts';
import { StepSizeCounter } from './step-size-counter.ts';

it('counts each step under the first bound that is not below it', () => {
  const counter = new StepSizeCounter();
  for (const size of [1, 8, 9, 100_000]) counter.add(size);
  const { counts, tokenCount } = counter.read();
  expect(tokenCount).toBe(100_018);
  expect(counts).toHaveLength(STEP_SIZE_BOUNDS.length + 1);
  expect(counts[0]).toBe(1);
  expect(counts[STEP_SIZE_BOUNDS.indexOf(8)]).toBe(1);
  expect(counts[STEP_SIZE_BOUNDS.indexOf(16)]).toBe(1);
  expect(counts.at(-1)).toBe(1);
});
