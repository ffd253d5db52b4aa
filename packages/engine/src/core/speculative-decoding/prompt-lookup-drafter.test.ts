import { describe, expect, it } from 'vitest';
import type { SubmitMessage } from '../../protocol/messages.ts';
import { createSequence } from '../../testing/create-sequence.ts';
import type { Sequence } from '../sequence.ts';
import type { Draft } from './drafter.ts';
import { PromptLookupDrafter } from './prompt-lookup-drafter.ts';

const ROOMY = { isAlone: true, logitsRoom: 100 };

/** The lengths of the drafts. */
function lengthsOf(drafts: readonly Draft[]): number[] {
  return drafts.map(({ length }) => length);
}

/** Commits a token as a step without a draft does. */
function commit(sequence: Sequence, [draft]: readonly Draft[], tokenId: number): void {
  sequence.append(tokenId);
  sequence.acceptance.observe(draft!, [tokenId]);
}

/** A sequence that says 0 to 9 again and again, with a drafter that looked on. */
function loopingSequence(outputLength: number, changes: Partial<SubmitMessage> = {}): Sequence {
  const drafter = new PromptLookupDrafter();
  const sequence = createSequence(1, 10, { maxTokens: 200, ...changes });
  for (let i = 0; i < outputLength; i++) {
    commit(sequence, drafter.draft([sequence], ROOMY), i % 10);
  }
  return sequence;
}

describe('PromptLookupDrafter', () => {
  it('drafts what followed before, once proposals proved right', () => {
    const drafter = new PromptLookupDrafter();
    expect(lengthsOf(drafter.draft([loopingSequence(3)], ROOMY))).toEqual([0]);
    const sequence = loopingSequence(30);
    const [draft] = drafter.draft([sequence], ROOMY);
    expect(draft).toEqual({
      proposed: Int32Array.from({ length: 15 }, (_, i) => i % 10),
      source: 'text',
      length: 15,
    });
  });

  it('drafts nothing for fresh text, and nothing more when a loop ends', () => {
    const drafter = new PromptLookupDrafter();
    const sequence = loopingSequence(30);
    for (let i = 0; i < 40; i++) {
      const drafts = drafter.draft([sequence], ROOMY);
      if (i > 0) expect(lengthsOf(drafts)).toEqual([0]);
      commit(sequence, drafts, 100 + i);
    }
  });

  it('gives the same when asked again, as for a step that failed', () => {
    const drafter = new PromptLookupDrafter();
    const sequence = loopingSequence(30);
    const first = drafter.draft([sequence], ROOMY);
    expect(drafter.draft([sequence], ROOMY)).toEqual(first);
    expect(sequence.acceptance.of('text')).toBe(loopingSequence(30).acceptance.of('text'));
  });

  it('drafts no token that would end the sequence, and leaves the last one to be drawn', () => {
    const drafter = new PromptLookupDrafter();
    expect(lengthsOf(drafter.draft([loopingSequence(30, { eosTokenIds: [4] })], ROOMY))).toEqual([4]);
    expect(lengthsOf(drafter.draft([loopingSequence(30, { stopTokenIds: [2] })], ROOMY))).toEqual([2]);
    expect(lengthsOf(drafter.draft([loopingSequence(30, { maxTokens: 36 })], ROOMY))).toEqual([5]);
    expect(lengthsOf(drafter.draft([loopingSequence(30, { maxTokens: 31 })], ROOMY))).toEqual([0]);
  });

  it('drafts for all sequences of a step or for none', () => {
    const drafter = new PromptLookupDrafter();
    const looping = [loopingSequence(40), loopingSequence(41)];
    expect(lengthsOf(drafter.draft(looping, ROOMY))).toEqual([15, 15]);
    expect(lengthsOf(drafter.draft([...looping, loopingSequence(2)], ROOMY))).toEqual([0, 0, 0]);
    expect(
      lengthsOf(
        drafter.draft(
          Array.from({ length: 9 }, () => loopingSequence(40)),
          ROOMY,
        ),
      ),
    ).toEqual(Array(9).fill(0));
  });

  it('drafts nothing beside prompts and no more than the rows of logits allow', () => {
    const drafter = new PromptLookupDrafter();
    expect(lengthsOf(drafter.draft([loopingSequence(30)], { ...ROOMY, isAlone: false }))).toEqual([0]);
    expect(lengthsOf(drafter.draft([loopingSequence(30)], { ...ROOMY, logitsRoom: 6 }))).toEqual([6]);
    expect(lengthsOf(drafter.draft([loopingSequence(30)], { ...ROOMY, logitsRoom: 0 }))).toEqual([0]);
  });

  it('keeps watching while it may not draft, so that it starts at once when it may', () => {
    const drafter = new PromptLookupDrafter();
    const sequence = createSequence(1, 10, { maxTokens: 200 });
    for (let i = 0; i < 30; i++) {
      commit(sequence, drafter.draft([sequence], { ...ROOMY, isAlone: false }), i % 10);
    }
    expect(lengthsOf(drafter.draft([sequence], ROOMY))).toEqual([15]);
  });
});
