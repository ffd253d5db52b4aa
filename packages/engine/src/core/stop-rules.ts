// Token-level ends of a sequence. Stop strings belong to the text side.

import type { SubmitMessage } from '../link/messages.ts';
import type { TokenFinishReason } from '../request/finish-reason.ts';

export interface SequenceFinish {
  readonly reason: TokenFinishReason;
  readonly stopTokenId: number | null;
}

/** The newest token of an output and what is known of the tokens before it. */
export interface NewestToken {
  readonly tokenId: number;
  /** Tokens of the output, this one included. */
  readonly outputLength: number;
  /** Whether the output ends in a loop of the kind that the request looks for. */
  readonly isRepeating: boolean;
}

/**
 * Whether the sequence ends with its newest token. The order is that of precedence: a stop token on the very last
 * allowed place is `stop`, and a loop that is complete there is `length`.
 */
export function findFinish(request: SubmitMessage, newest: NewestToken): SequenceFinish | undefined {
  const { tokenId, outputLength, isRepeating } = newest;
  if (outputLength > request.minTokens) {
    if (request.eosTokenIds.includes(tokenId)) return { reason: 'stop', stopTokenId: null };
    if (request.stopTokenIds.includes(tokenId)) return { reason: 'stop', stopTokenId: tokenId };
  }
  if (outputLength >= request.maxTokens) return { reason: 'length', stopTokenId: null };
  if (isRepeating && outputLength >= request.minTokens) return { reason: 'repetition', stopTokenId: null };
  return undefined;
}
