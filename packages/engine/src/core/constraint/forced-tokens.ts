// Text that a grammar leaves no choice about, as the tokens that the model's own tokenizer makes of it.

import type { ConstraintMatcher } from './constraint.ts';

/**
 * Tokens to append without sampling; empty when there is a choice, or too little is certain. The last token of the
 * forced text is left to the sampler: the tokenizer may have joined it with what follows. Changes nothing.
 *
 * @param encode The tokenizer of the model, on text that continues an answer.
 */
export function chooseForcedTokens(
  matcher: ConstraintMatcher,
  mostBytes: number,
  encode: (text: string) => readonly number[],
): readonly number[] {
  const forced = matcher.forcedBytes(mostBytes);
  if (forced.length < 2) return [];
  // A cut character at the end stays with what follows.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(forced, { stream: true });
  const tokenIds = encode(text).slice(0, -1);
  // A tokenizer that changes text (white space, normal forms) would step off the grammar.
  return matcher.countFitting(tokenIds) === tokenIds.length ? tokenIds : [];
}
