// Submit messages for tests of the token side.

import type { SubmitMessage } from '../protocol/messages.ts';
import { NEUTRAL_SAMPLING } from '../request/sampling-params.ts';

export const GREEDY = { ...NEUTRAL_SAMPLING, temperature: 0, seed: 1n };

/** A greedy request of three prompt tokens and at most four of output, without any end. */
export function submission(requestId: number, changes: Partial<SubmitMessage> = {}): SubmitMessage {
  return {
    kind: 'submit',
    requestId,
    promptTokenIds: Int32Array.of(1, 2, 3),
    choiceCount: 1,
    sampling: GREEDY,
    maxTokens: 4,
    minTokens: 0,
    eosTokenIds: [],
    stopTokenIds: [],
    minTokensBannedIds: [],
    ...changes,
  };
}
