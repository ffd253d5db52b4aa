// Decides whether a request may enter the queue. It takes counts, not the scheduler, and changes nothing.

import { EngineError } from '../errors.ts';
import type { SubmitMessage } from '../link/messages.ts';

export interface SubmissionLimits {
  readonly vocabSize: number;
  readonly contextLength: number;
  readonly slotCount: number;
  readonly maxQueuedSequences: number;
  /** Sequences that wait for a slot now. */
  readonly waitingCount: number;
  readonly freeSlotCount: number;
}

/** What a refused caller is told to wait: the shortest time that an HTTP Retry-After can say. Unit: milliseconds. */
const RETRY_AFTER_MS = 1000;

/** Throws: `invalid_request`, `prompt_too_long`, or `overloaded` with `retryAfterMs`. */
export function checkSubmission(message: SubmitMessage, limits: SubmissionLimits): void {
  const { vocabSize, contextLength, slotCount, maxQueuedSequences, waitingCount, freeSlotCount } = limits;
  const { promptTokenIds, choiceCount, maxTokens } = message;
  if (promptTokenIds.length === 0) throw invalid('prompt', 'The prompt has no tokens.');
  const wrong = promptTokenIds.find(id => id < 0 || id >= vocabSize);
  if (wrong !== undefined) {
    const problem = `Token id ${wrong} of the prompt is not in the vocabulary of ${vocabSize} tokens.`;
    throw invalid('prompt', problem);
  }
  if (promptTokenIds.length + maxTokens > contextLength) {
    throw new EngineError(
      'prompt_too_long',
      `${promptTokenIds.length} prompt tokens and ${maxTokens} generated tokens do not fit the context of ${contextLength} tokens.`,
    );
  }
  const mostChoices = slotCount + maxQueuedSequences;
  if (choiceCount > mostChoices) {
    const problem = `choiceCount must be at most ${mostChoices} with this model; got ${choiceCount}.`;
    throw invalid('choiceCount', problem);
  }
  // Sequences that find a free slot at the next step do not count as waiting.
  if (choiceCount > maxQueuedSequences + freeSlotCount - waitingCount) {
    const problem = `${waitingCount} sequences are waiting already; try again later.`;
    throw new EngineError('overloaded', problem, { retryAfterMs: RETRY_AFTER_MS });
  }
}

function invalid(parameter: string, problem: string): EngineError {
  return new EngineError('invalid_request', problem, { parameter });
}
