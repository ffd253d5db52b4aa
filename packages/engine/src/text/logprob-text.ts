// Adds the text and the bytes of every token to the log probabilities of the token side, which are ids and numbers.
// Caller: `../text-side/event-queue.ts`, when a reader takes an event.

import { nextTurn } from '@ortler/worker';
import type { CandidateLogprob, TokenLogprob } from '../request/generation-event.ts';
import type { TokenLogprobs } from '../request/token-logprobs.ts';
import { detokenize } from './detokenizer.ts';
import type { TokenBytes } from './token-bytes.ts';

/** Log probability of a banned token, because JSON has no infinity. Source: the floor of vLLM. */
const LOWEST_LOGPROB = -9999;
const REPLACEMENT = '\ufffd';
/** Entries converted between two yields: one or two milliseconds. A long prompt has hundreds of thousands. */
const CANDIDATES_PER_TURN = 1024;

/** Log probabilities of a whole prompt. Yields to the event loop, so that other requests are served in between. */
export async function toPromptLogprobs(
  tokenBytes: TokenBytes,
  logprobs: readonly (TokenLogprobs | null)[],
): Promise<(TokenLogprob | null)[]> {
  const found: (TokenLogprob | null)[] = [];
  let candidateCount = 0;
  for (const ofToken of logprobs) {
    found.push(ofToken === null ? null : toTokenLogprob(tokenBytes, ofToken));
    candidateCount += 1 + (ofToken?.topTokenIds.length ?? 0);
    if (candidateCount < CANDIDATES_PER_TURN) continue;
    candidateCount = 0;
    await nextTurn();
  }
  return found;
}

export function toTokenLogprob(tokenBytes: TokenBytes, logprobs: TokenLogprobs): TokenLogprob {
  const { tokenId, logprob, rank, topTokenIds, topLogprobs } = logprobs;
  const top: CandidateLogprob[] = [];
  for (let i = 0; i < topTokenIds.length; i++) {
    const isTied = i > 0 && topLogprobs[i] === topLogprobs[i - 1];
    const topRank = topTokenIds[i] === tokenId ? rank : isTied ? top[i - 1]!.rank : i + 1;
    top.push(toCandidate(tokenBytes, topTokenIds[i]!, topLogprobs[i]!, topRank));
  }
  return { ...toCandidate(tokenBytes, tokenId, logprob, rank), top };
}

function toCandidate(
  tokenBytes: TokenBytes,
  tokenId: number,
  logprob: number,
  rank: number,
): CandidateLogprob {
  // A copy, because the view would retain, and clone in a message, the bytes of the whole vocabulary.
  const bytes = tokenBytes.bytesOf(tokenId).slice();
  const text = textAlone(tokenBytes, tokenId);
  return { tokenId, text, bytes, logprob: Math.max(logprob, LOWEST_LOGPROB), rank };
}

/** The token decoded alone, special or not; empty when its end is a part of a character. */
function textAlone(tokenBytes: TokenBytes, tokenId: number): string {
  const text = detokenize(tokenBytes, [tokenId], { skipSpecialTokens: false });
  if (!text.endsWith(REPLACEMENT)) return text;
  const [first, second, third] = tokenBytes.bytesOf(tokenId).subarray(-3);
  // The character U+FFFD itself is whole.
  return first === 0xef && second === 0xbf && third === 0xbd ? text : '';
}
