import { expect, it } from 'vitest';
import { countStates, KEPT_BYTES } from './state-store.ts';

const SIZES = { maxSequences: 4, slotCount: 6, contextLength: 1024 };
const RECURRENT = [{ kvHeadCount: 1, headSize: 16, states: [[3, 64]] }];

it('has a state of each cached prompt for every 512 tokens and its end', () => {
  expect(countStates(RECURRENT, { ...SIZES, prefixCaching: true, longestDraft: 15 })).toBe(8 + 6 * 5);
});

it('without prefix caching has states of drafts and one for other choices only', () => {
  expect(countStates(RECURRENT, { ...SIZES, slotCount: 4, prefixCaching: false, longestDraft: 15 })).toBe(
    8 + 61,
  );
  expect(countStates(RECURRENT, { ...SIZES, slotCount: 4, prefixCaching: false, longestDraft: 0 })).toBe(
    8 + 1,
  );
});

it('keeps no more states than 512 MiB hold, but one for each slot', () => {
  const large = [{ ...RECURRENT[0]!, states: [[KEPT_BYTES / 4 / 7]] }];
  expect(countStates(large, { ...SIZES, prefixCaching: true, longestDraft: 0 })).toBe(8 + 7);
  const larger = [{ ...RECURRENT[0]!, states: [[KEPT_BYTES]] }];
  expect(countStates(larger, { ...SIZES, prefixCaching: true, longestDraft: 0 })).toBe(8 + 6);
  expect(countStates(larger, { ...SIZES, prefixCaching: false, longestDraft: 15 })).toBe(8 + 1);
});
