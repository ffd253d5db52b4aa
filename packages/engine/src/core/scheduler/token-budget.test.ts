import { describe, expect, it } from 'vitest';
import { type PromptNeed, TokenBudget } from './token-budget.ts';

const LIMITS = { prefillChunkLength: 10, mixedChunkLength: 4, promptLogitsLimit: 3 };

function budgetOf(hasDecodes: boolean): TokenBudget {
  const budget = new TokenBudget(LIMITS);
  budget.reset({ hasDecodes });
  return budget;
}

function need(pendingCount: number, rest: Partial<PromptNeed> = {}): PromptNeed {
  return { pendingCount, computedLength: 0, wantsPromptLogprobs: false, ...rest };
}

describe('TokenBudget', () => {
  it('gives prompts what is left and not more than they have', () => {
    const budget = budgetOf(false);
    expect(budget.grant(need(6))).toBe(6);
    expect(budget.grant(need(6))).toBe(4);
    expect(budget.isSpent).toBe(true);
    expect(budget.grant(need(6))).toBe(0);
  });

  it('is smaller while answers run', () => {
    expect(budgetOf(true).grant(need(20))).toBe(4);
  });

  it('is for fewer tokens deep in a prompt while answers run, down to a quarter', () => {
    const grantAt = (computedLength: number, hasDecodes: boolean): number => {
      const budget = new TokenBudget({ ...LIMITS, prefillChunkLength: 64, mixedChunkLength: 48 });
      budget.reset({ hasDecodes });
      const granted = budget.grant(need(100, { computedLength }));
      expect(budget.isSpent).toBe(true);
      return granted;
    };
    const lengths = [0, 1000, 2000, 4000, 6000, 100_000];
    expect(lengths.map(length => grantAt(length, true))).toEqual([48, 32, 24, 16, 12, 12]);
    expect(lengths.map(length => grantAt(length, false))).toEqual([64, 64, 64, 64, 64, 64]);
  });

  it('always lets the first prompt go on', () => {
    const budget = new TokenBudget({ ...LIMITS, mixedChunkLength: 1 });
    budget.reset({ hasDecodes: true });
    expect(budget.grant(need(100, { computedLength: 100_000 }))).toBe(1);
    expect(budget.isSpent).toBe(true);
  });

  it('leaves to the next prompt what a deep one did not use', () => {
    const budget = new TokenBudget({ ...LIMITS, prefillChunkLength: 64, mixedChunkLength: 48 });
    budget.reset({ hasDecodes: true });
    expect(budget.grant(need(10, { computedLength: 2000 }))).toBe(10);
    expect(budget.grant(need(100))).toBe(28);
  });

  it('is never larger while answers run than while none does', () => {
    const budget = new TokenBudget({ ...LIMITS, mixedChunkLength: 100 });
    budget.reset({ hasDecodes: true });
    expect(budget.grant(need(200))).toBe(10);
  });

  it('bounds the tokens with log probabilities and leaves the rest to other prompts', () => {
    const budget = budgetOf(false);
    expect(budget.grant(need(8, { wantsPromptLogprobs: true }))).toBe(3);
    expect(budget.grant(need(8, { wantsPromptLogprobs: true }))).toBe(0);
    expect(budget.grant(need(8))).toBe(7);
  });

  it('is whole again with the next step', () => {
    const budget = budgetOf(false);
    budget.grant(need(10, { wantsPromptLogprobs: true }));
    budget.reset({ hasDecodes: false });
    expect(budget.grant(need(2, { wantsPromptLogprobs: true }))).toBe(2);
  });
});
