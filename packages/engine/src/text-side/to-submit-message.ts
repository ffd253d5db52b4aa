// A prepared request -> the message that the token side gets. Fields without effect are left out.

import { randomBytes } from 'node:crypto';
import type { SubmitMessage, SubmittedConstraint } from '../protocol/messages.ts';
import type { PreparedRequest } from './request-preparer.ts';

/** @param constraint Undefined: none. */
export function toSubmitMessage(
  requestId: number,
  { valid, promptTokenIds, badTokenSequences, maxTokens }: PreparedRequest,
  constraint: SubmittedConstraint | undefined,
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
