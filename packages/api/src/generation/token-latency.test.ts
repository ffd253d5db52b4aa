import { describe, expect, it } from 'vitest';
import { TokenLatency } from './token-latency.ts';

describe('TokenLatency', () => {
  it('measures each choice from its own tokens to its next ones', () => {
    const latency = new TokenLatency();
    latency.record({ choiceIndex: 0, tokenIds: [1] }, 1_000);
    latency.record({ choiceIndex: 1, tokenIds: [1] }, 1_001);
    latency.record({ choiceIndex: 0, tokenIds: [2, 3] }, 1_010);
    latency.record({ choiceIndex: 1, tokenIds: [2] }, 1_031);
    expect(latency.interTokenMs).toEqual([10, 30]);
    expect(latency).toMatchObject({ firstAtMs: 1_000, count: 5, longestChoiceCount: 3 });
  });

  it('counts no token for a delta without tokens', () => {
    const latency = new TokenLatency();
    expect(latency).toMatchObject({ firstAtMs: null, count: 0, longestChoiceCount: 0 });
    latency.record({ choiceIndex: 0, tokenIds: [1] }, 5);
    latency.record({ choiceIndex: 0, tokenIds: [] }, 9);
    expect(latency.interTokenMs).toEqual([]);
  });
});
