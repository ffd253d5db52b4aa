// Admission to the queue: whether a request may enter it. Checks token ids and lengths once more, because wrong ones could
// reach native memory. Pure: it gets counts, not the scheduler.

import { EngineError } from '../errors.ts';
import type { SubmitMessage } from '../protocol/messages.ts';
import { promptTooLong } from '../request/prompt-too-long.ts';

/** Part of the queue that one share may fill. */
const SHARE_OF_QUEUE = 0.75;

export interface SubmissionLimits {
  readonly vocabSize: number;
  readonly contextLength: number;
  /** Maximum number of sequences that run at the same time. */
  readonly maxSequences: number;
  readonly schedulingPolicy: 'fcfs' | 'priority';
  readonly maxQueuedSequences: number;
  /** Sequences that wait for a slot now, without paused ones. */
  readonly waitingCount: number;
  /** Waiting sequences of the request's share. */
  readonly waitingOfShareCount: number;
  /** Slots that waiting sequences can get at the next step. */
  readonly freeSlotCount: number;
  /** Expected time until `endCount` of the present sequences have ended. Unit: milliseconds. */
  readonly estimateWaitMs: (endCount: number) => number;
}

/** Throws: `invalid_request`, `prompt_too_long`, or `overloaded` with `retryAfterMs`. */
export function checkSubmission(message: SubmitMessage, limits: SubmissionLimits): void {
  const { vocabSize, contextLength, maxSequences, maxQueuedSequences, waitingCount, freeSlotCount } = limits;
  const { promptTokenIds, choiceCount, maxTokens, priority = 0 } = message;
  if (priority !== 0 && limits.schedulingPolicy === 'fcfs') {
    const problem = `priority must be 0 with this model, whose scheduling policy is fcfs; got ${priority}.`;
    throw invalid('priority', problem);
  }
  if (promptTokenIds.length === 0) throw invalid('prompt', 'The prompt has no tokens.');
  const wrong = promptTokenIds.find(id => id < 0 || id >= vocabSize);
  if (wrong !== undefined) {
    const problem = `Token id ${wrong} of the prompt is not in the vocabulary of ${vocabSize} tokens.`;
    throw invalid('prompt', problem);
  }
  if (promptTokenIds.length + maxTokens > contextLength)
    throw promptTooLong({ contextLength, promptLength: promptTokenIds.length, maxTokens });
  const maxChoices = maxSequences + maxQueuedSequences;
  if (choiceCount > maxChoices) {
    const problem = `choiceCount must be at most ${maxChoices} with this model; got ${choiceCount}.`;
    throw invalid('choiceCount', problem);
  }
  if (message.continues !== undefined) return;
  // Sequences that find a free slot at the next step do not count as waiting.
  const missingCount = choiceCount - (maxQueuedSequences + freeSlotCount - waitingCount);
  if (missingCount > 0) {
    const problem = `${waitingCount} sequences are waiting already; try again later.`;
    throw new EngineError('overloaded', problem, { retryAfterMs: limits.estimateWaitMs(missingCount) });
  }
  const surplusCount =
    limits.waitingOfShareCount + choiceCount - freeSlotCount - maxOfShare(maxQueuedSequences);
  if (limits.waitingOfShareCount > 0 && surplusCount > 0) {
    const problem = `${limits.waitingOfShareCount} sequences of this caller are waiting already; try again later.`;
    throw new EngineError('overloaded', problem, { retryAfterMs: limits.estimateWaitMs(surplusCount) });
  }
}

/** Maximum number of waiting sequences of one share: the rest of the queue stays for others. */
function maxOfShare(maxQueuedSequences: number): number {
  return Math.ceil(maxQueuedSequences * SHARE_OF_QUEUE);
}

function invalid(parameter: string, problem: string): EngineError {
  return new EngineError('invalid_request', problem, { parameter });
}
