import { describe, expect, it } from 'vitest';
import { TokenLatency } from './token-latency.ts';

describe('TokenLatency', () => {
  it('measures each choice from its own tokens to its next ones', () => {
    const latency = new TokenLatency();
    latency.record({ choiceIndex: 0, tokenCount: 1 }, 1_000);
    latency.record({ choiceIndex: 1, tokenCount: 1 }, 1_001);
    latency.record({ choiceIndex: 0, tokenCount: 2 }, 1_010);
    latency.record({ choiceIndex: 1, tokenCount: 1 }, 1_031);
    expect(latency.interTokenMs).toEqual([10, 30]);
    expect(latency).toMatchObject({ firstAtMs: 1_000, count: 5, longestChoiceCount: 3 });
  });

  it('counts no token for a delta without tokens', () => {
    const latency = new TokenLatency();
    expect(latency).toMatchObject({ firstAtMs: null, count: 0, longestChoiceCount: 0 });
    latency.record({ choiceIndex: 0, tokenCount: 1 }, 5);
    latency.record({ choiceIndex: 0, tokenCount: 0 }, 9);
    expect(latency.interTokenMs).toEqual([]);
  });
});
