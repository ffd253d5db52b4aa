import { describe, expect, it } from 'vitest';
import { TokenBudget } from './token-budget.ts';

const LIMITS = { prefillChunkLength: 10, mixedChunkLength: 4, promptLogitsLimit: 3 };

function budgetOf(hasDecodes: boolean): TokenBudget {
  const budget = new TokenBudget(LIMITS);
  budget.reset({ hasDecodes });
  return budget;
}

describe('TokenBudget', () => {
  it('gives prompts what is left and not more than they have', () => {
    const budget = budgetOf(false);
    expect(budget.grant(6, { promptLogits: false })).toBe(6);
    expect(budget.grant(6, { promptLogits: false })).toBe(4);
    expect(budget.isSpent).toBe(true);
    expect(budget.grant(6, { promptLogits: false })).toBe(0);
  });

  it('is smaller while answers run', () => {
    expect(budgetOf(true).grant(20, { promptLogits: false })).toBe(4);
  });

  it('is never larger while answers run than while none does', () => {
    const budget = new TokenBudget({ ...LIMITS, mixedChunkLength: 100 });
    budget.reset({ hasDecodes: true });
    expect(budget.grant(200, { promptLogits: false })).toBe(10);
  });

  it('bounds the tokens with log probabilities and leaves the rest to other prompts', () => {
    const budget = budgetOf(false);
    expect(budget.grant(8, { promptLogits: true })).toBe(3);
    expect(budget.grant(8, { promptLogits: true })).toBe(0);
    expect(budget.grant(8, { promptLogits: false })).toBe(7);
  });

  it('is whole again with the next step', () => {
    const budget = budgetOf(false);
    budget.grant(10, { promptLogits: true });
    budget.reset({ hasDecodes: false });
    expect(budget.grant(2, { promptLogits: true })).toBe(2);
  });
});
