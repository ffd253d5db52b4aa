// Log probabilities of generated tokens, from the engine's form to that of chats.

import type { CandidateLogprob, TokenLogprob } from '@ortler/engine';
import type { ChoiceLogprobs } from '@ortler/schemas';

export interface LogprobsForm {
  /** `top_logprobs` of the request. */
  readonly topCount: number;
  /** Write tokens as `token_id:<id>`. */
  readonly asTokenIds: boolean;
}

const utf8 = new TextEncoder();

/** One entry per token, the end token included. */
export function toChoiceLogprobs(tokens: readonly TokenLogprob[], form: LogprobsForm): ChoiceLogprobs {
  return {
    content: tokens.map(token => ({
      token: form.asTokenIds ? placeholder(token) : token.text,
      logprob: token.logprob,
      bytes: [...token.bytes],
      top_logprobs: rankedWithSampledFirst(token, form.topCount).map(candidate =>
        form.asTokenIds ? toPlaceholder(candidate) : toCandidate(candidate),
      ),
    })),
  };
}

// The service this wire format comes from puts the sampled token first and then cuts, so a sampled token outside the
// best ones takes the place of the last of them.
function rankedWithSampledFirst(token: TokenLogprob, count: number): CandidateLogprob[] {
  const others = token.top.filter(({ tokenId }) => tokenId !== token.tokenId);
  return [token, ...others].slice(0, count);
}

function toCandidate({ text, logprob, bytes }: CandidateLogprob) {
  return { token: text, logprob, bytes: [...bytes] };
}

// In lists the bytes are those of the placeholder, unlike the bytes of the entry itself. Source: as above.
function toPlaceholder(candidate: CandidateLogprob) {
  const token = placeholder(candidate);
  return { token, logprob: candidate.logprob, bytes: [...utf8.encode(token)] };
}

function placeholder({ tokenId }: CandidateLogprob): string {
  return `token_id:${tokenId}`;
}
