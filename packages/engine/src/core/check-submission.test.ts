import { describe, expect, it } from 'vitest';
import { EngineError } from '../errors.ts';
import type { SubmitMessage } from '../protocol/messages.ts';
import { createSequence } from '../testing/create-sequence.ts';
import { checkSubmission, type SubmissionLimits } from './check-submission.ts';

const LIMITS: SubmissionLimits = {
  vocabSize: 64,
  contextLength: 32,
  maxSequences: 2,
  schedulingPolicy: 'fcfs',
  maxQueuedSequences: 3,
  waitingCount: 0,
  waitingOfShareCount: 0,
  freeSlotCount: 2,
  estimateWaitMs: endCount => 1_000 * endCount,
};

function refusalOf(
  changes: Partial<SubmitMessage>,
  limits: Partial<SubmissionLimits> = {},
): EngineError | null {
  const message = createSequence(1, 3, changes).group.submitted;
  try {
    checkSubmission(message, { ...LIMITS, ...limits });
    return null;
  } catch (error) {
    if (error instanceof EngineError) return error;
    throw error;
  }
}

describe('checkSubmission', () => {
  it('takes a priority only where the model is served by priority', () => {
    expect(refusalOf({ priority: 0 })).toBeNull();
    expect(refusalOf({ priority: 1 })).toMatchObject({ code: 'invalid_request', parameter: 'priority' });
    expect(refusalOf({ priority: -1 })?.message).toContain('got -1');
    expect(refusalOf({ priority: -1 }, { schedulingPolicy: 'priority' })).toBeNull();
  });

  it('refuses what finds neither a slot nor a place in the queue, and says when there will be one', () => {
    const full = { waitingCount: 3, freeSlotCount: 0 };
    expect(refusalOf({ choiceCount: 5 })).toBeNull();
    expect(refusalOf({}, full)).toMatchObject({ code: 'overloaded', retryAfterMs: 1_000 });
    expect(refusalOf({ choiceCount: 3 }, full)).toMatchObject({ code: 'overloaded', retryAfterMs: 3_000 });
    expect(refusalOf({ choiceCount: 4 }, { waitingCount: 1 })).toBeNull();
    expect(refusalOf({ choiceCount: 5 }, { waitingCount: 1 })?.retryAfterMs).toBe(1_000);
  });

  it('leaves a part of the queue to other shares', () => {
    const limits = { maxQueuedSequences: 8, waitingCount: 6, freeSlotCount: 0 };
    expect(refusalOf({}, { ...limits, waitingOfShareCount: 6 })).toMatchObject({
      code: 'overloaded',
      retryAfterMs: 1_000,
    });
    expect(refusalOf({}, { ...limits, waitingOfShareCount: 5 })).toBeNull();
    expect(refusalOf({}, { ...limits, waitingOfShareCount: 0 })).toBeNull();
  });

  it('says that a request that never fits will never fit', () => {
    expect(refusalOf({ choiceCount: 6 })).toMatchObject({
      code: 'invalid_request',
      parameter: 'choiceCount',
    });
    expect(refusalOf({ maxTokens: 30 })?.code).toBe('prompt_too_long');
  });
});
