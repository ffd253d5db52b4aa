import { describe, expect, it } from 'vitest';
import { grantTokens } from './token-budget.ts';

describe('grantTokens', () => {
  it('serves a decode whatever is left', () => {
    expect(grantTokens(1, 0)).toBe(1);
  });

  it('gives a prompt what is left of the budget and not more than it has', () => {
    expect(grantTokens(10, 4)).toBe(4);
    expect(grantTokens(10, 40)).toBe(10);
    expect(grantTokens(10, 0)).toBe(0);
  });
});
