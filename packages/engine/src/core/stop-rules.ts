// Token-level ends of a sequence. Stop strings belong to the text side.

import type { SubmitMessage } from '../link/messages.ts';
import type { TokenFinishReason } from '../request/finish-reason.ts';

export interface SequenceFinish {
  readonly reason: TokenFinishReason;
  readonly stopTokenId: number | null;
}

/** Whether ends (`minTokensBannedIds`) must not be drawn yet: the output is shorter than the minimum. */
export function mustContinue(request: SubmitMessage, outputLength: number): boolean {
  return outputLength < request.minTokens;
}

/**
 * Whether the sequence ends with its newest token. A stop token on the very last allowed place is `stop`, not
 * `length`. `outputLength` counts that token.
 */
export function findFinish(
  request: SubmitMessage,
  tokenId: number,
  outputLength: number,
): SequenceFinish | undefined {
  if (outputLength > request.minTokens) {
    if (request.eosTokenIds.includes(tokenId)) return { reason: 'stop', stopTokenId: null };
    if (request.stopTokenIds.includes(tokenId)) return { reason: 'stop', stopTokenId: tokenId };
  }
  if (outputLength >= request.maxTokens) return { reason: 'length', stopTokenId: null };
  return undefined;
}
