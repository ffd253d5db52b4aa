// Tokens with their log probabilities -> the four lists that a completion reports them in.

import type { CandidateLogprob, TokenLogprob } from '@ortler/engine';
import type { CompletionLogprobs } from '@ortler/schemas';

/** A token of the prompt or the answer. The first token of a prompt has no log probability. */
export interface PlacedToken {
  readonly tokenId: number;
  readonly logprob: TokenLogprob | null;
}

export interface CompletionLogprobsForm {
  /** `logprobs` of the request. */
  readonly topCount: number;
  /** Write tokens as `token_id:<id>`. */
  readonly asTokenIds: boolean;
  /** Text of a token that comes without its log probability. */
  readonly decode: (tokenIds: readonly number[]) => string;
}

/**
 * Lists for one choice, one entry per token.
 * @param startOffset Where the first token starts. Unit: characters (code points).
 */
export function toCompletionLogprobs(
  tokens: readonly PlacedToken[],
  form: CompletionLogprobsForm,
  startOffset: number,
): CompletionLogprobs {
  const lists: CompletionLogprobs = { text_offset: [], token_logprobs: [], tokens: [], top_logprobs: [] };
  let offset = startOffset;
  for (const { tokenId, logprob } of tokens) {
    const text = logprob?.text ?? form.decode([tokenId]);
    const shown = form.asTokenIds ? placeholder(tokenId) : text;
    lists.text_offset.push(offset);
    lists.tokens.push(shown);
    lists.token_logprobs.push(logprob?.logprob ?? null);
    lists.top_logprobs.push(logprob === null ? null : toTop(logprob, form));
    offset += characterCount(shown);
  }
  return lists;
}

/** Where the token after these lists starts. Unit: characters (code points). */
export function endOffset({ text_offset, tokens }: CompletionLogprobs, startOffset: number): number {
  const last = tokens.at(-1);
  return last === undefined ? startOffset : text_offset.at(-1)! + characterCount(last);
}

// The token itself and the best others, by text. Parts of characters share the empty text; the first of them, which
// is the token itself or the more probable one, keeps it.
function toTop(
  token: TokenLogprob,
  { topCount, asTokenIds }: CompletionLogprobsForm,
): Record<string, number> {
  const others = token.top.filter(({ tokenId }) => tokenId !== token.tokenId);
  const ranked: readonly CandidateLogprob[] = [token, ...others].slice(0, topCount + 1);
  // A map, as in an object `constructor` and `toString` are there before any token is.
  const top = new Map<string, number>();
  for (const { tokenId, text, logprob } of ranked) {
    const key = asTokenIds ? placeholder(tokenId) : text;
    if (!top.has(key)) top.set(key, logprob);
  }
  return Object.fromEntries(top);
}

function placeholder(tokenId: number): string {
  return `token_id:${tokenId}`;
}

function characterCount(text: string): number {
  let count = 0;
  for (const _character of text) count++;
  return count;
}
