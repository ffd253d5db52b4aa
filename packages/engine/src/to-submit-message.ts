// A request that passed every check -> the message that the token side gets. Fields without effect are left out.

import { randomBytes } from 'node:crypto';
import type { SubmitMessage, SubmittedConstraint } from './link/messages.ts';
import type { ValidRequest } from './request/validate-generation-request.ts';

/** What is known only after the prompt and the words were tokenized. */
export interface TokenizedRequest {
  readonly promptTokenIds: Int32Array;
  readonly badTokenSequences: readonly (readonly number[])[];
  readonly maxTokens: number;
  /** Undefined: none. */
  readonly constraint?: SubmittedConstraint | undefined;
}

export function toSubmitMessage(
  requestId: number,
  valid: ValidRequest,
  { promptTokenIds, badTokenSequences, maxTokens, constraint }: TokenizedRequest,
): SubmitMessage {
  const { logprobs, promptLogprobs, repetitionDetection } = valid;
  return {
    kind: 'submit',
    requestId,
    promptTokenIds,
    choiceCount: valid.choiceCount,
    sampling: { ...valid.sampling, seed: valid.sampling.seed ?? randomSeed() },
    maxTokens,
    minTokens: valid.minTokens,
    eosTokenIds: valid.eosTokenIds,
    stopTokenIds: valid.stopTokenIds,
    minTokensBannedIds: valid.minTokensBannedIds,
    ...(badTokenSequences.length > 0 && { badTokenSequences }),
    ...(logprobs !== undefined && { logprobs }),
    ...(promptLogprobs !== undefined && { promptLogprobs }),
    ...(repetitionDetection !== undefined && { repetitionDetection }),
    ...(constraint !== undefined && { constraint }),
    priority: valid.priority,
    cachePartition: valid.cachePartition,
  };
}

/** A seed that no one can foresee. Unit: int64. */
function randomSeed(): bigint {
  return randomBytes(8).readBigInt64LE();
}
