// Sixteen users at once, some of whom leave at random moments.

import { expect, test } from 'vitest';
import prompts from './golden/prompts.json' with { type: 'json' };
import { answer, describeWithModel, SMOLLM2, startEngine } from './real-model-engine.ts';

const USER_COUNT = 16;
const ANSWER_LENGTH = 40;
const SEED = 7;

describeWithModel(SMOLLM2, '16 users at once with aborts', () => {
  test('an answer is the same bit for bit as alone, one that was aborted up to there, and all slots are free', async () => {
    await using engine = await startEngine(SMOLLM2, 'file', {
      maxSequences: USER_COUNT,
      contextLength: 512,
      prefixCaching: false,
    });
    const users = prompts
      .slice(-USER_COUNT)
      .map(content => ({ messages: [{ role: 'user', content } as const] }));
    const settings = { maxTokens: ANSWER_LENGTH, topCount: 1 };
    const alone = [];
    for (const prompt of users) alone.push(await answer(engine, prompt, settings));

    const random = randomNumbers(SEED);
    const abortedCounts = users.map(() =>
      random() < 0.5 ? 1 + Math.floor(random() * (ANSWER_LENGTH / 2)) : null,
    );
    const outcomes = await Promise.all(
      users.map(async (prompt, user) => {
        const abort = new AbortController();
        let begun: readonly number[] = [];
        const onTokens = (tokenIds: readonly number[]) => {
          begun = tokenIds;
          if (abortedCounts[user] !== null && tokenIds.length >= abortedCounts[user]!) abort.abort();
        };
        return answer(engine, prompt, { ...settings, signal: abort.signal, onTokens }).catch(
          (error: unknown) => {
            if (!abort.signal.aborted) throw error;
            return { begun };
          },
        );
      }),
    );
    const aborted = outcomes.filter(outcome => 'begun' in outcome);
    expect(aborted.length).toBeGreaterThan(3);
    expect(aborted.length).toBeLessThan(USER_COUNT - 3);
    for (const [user, outcome] of outcomes.entries()) {
      if ('begun' in outcome) {
        expect(outcome.begun.length).toBeGreaterThan(0);
        expect(outcome.begun, `user ${user}`).toEqual(alone[user]!.tokenIds.slice(0, outcome.begun.length));
        continue;
      }
      expect(outcome.tokenIds, `user ${user}`).toEqual(alone[user]!.tokenIds);
      expect(
        outcome.logprobs.map(({ logprob }) => logprob),
        `user ${user}`,
      ).toEqual(alone[user]!.logprobs.map(({ logprob }) => logprob));
    }
    await expect
      .poll(() => engine.health.stats)
      .toMatchObject({ runningCount: 0, waitingCount: 0, freeSlotCount: USER_COUNT });
    // The slots of those who left compute for others.
    const again = await Promise.all(users.map(prompt => answer(engine, prompt, settings)));
    expect(again.map(({ tokenIds }) => tokenIds)).toEqual(alone.map(({ tokenIds }) => tokenIds));
  });
});

function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
