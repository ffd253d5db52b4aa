// Builds the submit message of a prepared request.

import { randomBytes } from 'node:crypto';
import type { SubmitMessage, SubmittedConstraint } from '../protocol/messages.ts';
import type { PreparedRequest } from './request-preparer.ts';

/** @param constraint Undefined: none. */
export function toSubmitMessage(
  requestId: number,
  { valid, promptTokenIds, rules }: PreparedRequest,
  constraint: SubmittedConstraint | undefined,
): SubmitMessage {
  const { sampling, choiceCount, logprobs, promptLogprobs, priority, share, cachePartition } = valid;
  return {
    kind: 'submit',
    requestId,
    promptTokenIds,
    choiceCount,
    sampling: { ...sampling, seed: sampling.seed ?? randomSeed() },
    ...rules,
    logprobs,
    promptLogprobs,
    constraint,
    priority,
    share,
    cachePartition,
  };
}

/** An unpredictable seed. Unit: int64. */
function randomSeed(): bigint {
  return randomBytes(8).readBigInt64LE();
}
