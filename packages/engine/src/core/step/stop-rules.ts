// Token-level ends of a sequence. Stop strings belong to the text side.

import type { SequenceFinish, SubmitMessage } from '../../protocol/messages.ts';

/** The newest token of an output and what is known of the tokens before it. */
export interface NewestToken {
  readonly tokenId: number;
  /** Tokens of the output, this one included. */
  readonly outputLength: number;
  /** Whether the output ends in a loop of the kind that the request looks for. */
  readonly isRepeating: boolean;
  /**
   * State of a constrained answer after the token: `complete` when nothing can follow it, `ended` when it is the end
   * token of a complete one. Without a constraint an answer is always `open`.
   */
  readonly answer: 'open' | 'complete' | 'ended';
}

/**
 * Whether the sequence ends with its newest token. The order is that of precedence: a stop token on the very last
 * allowed place is `stop`, and a loop that is complete there is `length`. A constraint that allows nothing more ends
 * the sequence below the minimum length and with ignored ends as well.
 */
export function findFinish(request: SubmitMessage, newest: NewestToken): SequenceFinish | undefined {
  const { tokenId, outputLength, isRepeating, answer } = newest;
  const isStopToken = request.stopTokenIds.includes(tokenId);
  if (outputLength > request.minTokens) {
    if (request.eosTokenIds.includes(tokenId)) return { reason: 'stop', stopTokenId: null };
    if (isStopToken) return { reason: 'stop', stopTokenId: tokenId };
  }
  if (answer === 'ended') return { reason: 'stop', stopTokenId: isStopToken ? tokenId : null };
  if (answer === 'complete') return { reason: 'stop', stopTokenId: null, endsWithText: true };
  if (outputLength >= request.maxTokens) return { reason: 'length', stopTokenId: null };
  if (isRepeating && outputLength >= request.minTokens) return { reason: 'repetition', stopTokenId: null };
  return undefined;
}
