import { describe, expect, it } from 'vitest';
import { TokenTimes } from './token-times.ts';

describe('TokenTimes', () => {
  it('measures each choice from its own tokens to its next ones', () => {
    const times = new TokenTimes();
    times.came({ choiceIndex: 0, tokenIds: [1] }, 1_000);
    times.came({ choiceIndex: 1, tokenIds: [1] }, 1_001);
    times.came({ choiceIndex: 0, tokenIds: [2, 3] }, 1_010);
    times.came({ choiceIndex: 1, tokenIds: [2] }, 1_031);
    expect(times.gapsMs).toEqual([10, 30]);
    expect(times).toMatchObject({ firstAtMs: 1_000, count: 5, longestChoiceCount: 3 });
  });

  it('takes an end without tokens for no token', () => {
    const times = new TokenTimes();
    expect(times).toMatchObject({ firstAtMs: null, count: 0, longestChoiceCount: 0 });
    times.came({ choiceIndex: 0, tokenIds: [1] }, 5);
    times.came({ choiceIndex: 0, tokenIds: [] }, 9);
    expect(times.gapsMs).toEqual([]);
  });
});
