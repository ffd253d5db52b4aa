import { describe, expect, it } from 'vitest';
import { createSequence } from '../../testing/create-sequence.ts';
import { findFinish, type NewestToken } from './stop-rules.ts';

const request = {
  ...createSequence(1).group.submitted,
  maxTokens: 6,
  minTokens: 2,
  eosTokenIds: [7],
  stopTokenIds: [8],
};
const newest = (changes: Partial<NewestToken>): NewestToken => ({
  tokenId: 1,
  outputLength: 4,
  isRepeating: false,
  answer: 'open',
  ...changes,
});

describe('findFinish', () => {
  it('lets a complete answer win over the length and the minimum, and an end token be the stop token it is', () => {
    const complete = newest({ outputLength: 1, answer: 'complete' });
    expect(findFinish({ ...request, maxTokens: 1 }, complete)).toEqual({
      reason: 'stop',
      stopTokenId: null,
      endsWithText: true,
    });
    const ended = newest({ tokenId: 8, outputLength: 1, answer: 'ended' });
    expect(findFinish(request, ended)).toEqual({ reason: 'stop', stopTokenId: 8 });
    const ignored = newest({ tokenId: 9, outputLength: 1, answer: 'ended' });
    expect(findFinish(request, ignored)).toEqual({ reason: 'stop', stopTokenId: null });
  });

  it('lets a stop token win over the length, and the length over a loop', () => {
    expect(findFinish(request, newest({ tokenId: 8, outputLength: 6, isRepeating: true }))).toEqual({
      reason: 'stop',
      stopTokenId: 8,
    });
    expect(findFinish(request, newest({ outputLength: 6, isRepeating: true }))).toMatchObject({
      reason: 'length',
    });
    expect(findFinish(request, newest({ isRepeating: true }))).toMatchObject({ reason: 'repetition' });
  });

  it('lets a loop end an output of exactly the minimum, not a shorter one', () => {
    expect(findFinish(request, newest({ outputLength: 1, isRepeating: true }))).toBeUndefined();
    expect(findFinish(request, newest({ outputLength: 2, isRepeating: true }))?.reason).toBe('repetition');
  });

  it('goes on otherwise', () => {
    expect(findFinish(request, newest({}))).toBeUndefined();
  });
});
