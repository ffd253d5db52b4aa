// A conversation of 20 turns: each turn sends all earlier ones again.

import type { ChatMessage } from '@ortler/engine';
import { expect, test } from 'vitest';
import prompts from './golden/prompts.json' with { type: 'json' };
import { type Answer, answer, describeWithModel, SMOLLM2, startEngine } from './real-model-engine.ts';

const TURN_COUNT = 20;
const ANSWER_LENGTH = 24;

describeWithModel(SMOLLM2, 'a conversation of 20 turns', () => {
  test('takes all but the newest message from the prefix cache and has the answers of one without cache', async () => {
    const cached = await converse(true);
    const uncached = await converse(false);
    expect(uncached.map(({ cachedTokenCount }) => cachedTokenCount)).toEqual(Array(TURN_COUNT).fill(0));
    expect(cached.map(({ tokenIds }) => tokenIds)).toEqual(uncached.map(({ tokenIds }) => tokenIds));
    for (const [turn, { cachedTokenCount }] of cached.entries()) {
      if (turn === 0) continue;
      // The template writes the answer as it was generated, so the whole earlier prompt and answer can be hit.
      const { promptTokenCount, tokenIds } = cached[turn - 1]!;
      expect(cachedTokenCount, `turn ${turn}`).toBeGreaterThanOrEqual(promptTokenCount + tokenIds.length - 2);
    }
  });
});

async function converse(prefixCaching: boolean): Promise<readonly Answer[]> {
  await using engine = await startEngine(SMOLLM2, 'file', {
    maxSequences: 1,
    contextLength: 2048,
    prefixCaching,
  });
  const messages: ChatMessage[] = [];
  const answers: Answer[] = [];
  for (const content of prompts.slice(0, TURN_COUNT)) {
    messages.push({ role: 'user', content });
    const reply = await answer(engine, { messages }, { maxTokens: ANSWER_LENGTH });
    messages.push({ role: 'assistant', content: reply.text });
    answers.push(reply);
  }
  return answers;
}
