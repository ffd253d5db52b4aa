// Refuses a pattern that would keep a checker of the answer busy for ever.

import { refuse } from '../refuse.ts';
import { findAmbiguity } from './find-ambiguity.ts';
import type { PlacedPattern } from './patterns-in.ts';
import { UnreadableRegex } from './regex-node.ts';
import { PatternTooLarge } from './work-budget.ts';

const WAY_OUT = 'or have the operator set ambiguous-patterns to serve';
/** Characters of the repeated part that a message quotes. */
const QUOTE_LENGTH = 80;

/**
 * Throws: `invalid_request` naming the repeated part, or saying that the pattern is too large to be judged. What cannot be
 * read is left to whoever compiles it.
 */
export function refuseAmbiguous(pattern: PlacedPattern): void {
  const part = judge(pattern);
  if (part === null) return;
  const quoted = part.length > QUOTE_LENGTH ? `${part.slice(0, QUOTE_LENGTH)}...` : part;
  refuse(
    pattern.place,
    `The pattern repeats ${JSON.stringify(quoted)} in two ways over the same text, and a checker that backtracks would need exponential time; make the ways differ, ${WAY_OUT}`,
  );
}

function judge({ text, place, notation, extent }: PlacedPattern): string | null {
  try {
    return findAmbiguity(text, { notation, extent });
  } catch (error) {
    if (error instanceof UnreadableRegex) return null;
    if (!(error instanceof PatternTooLarge)) throw error;
    refuse(
      place,
      `The pattern has too many parts to tell whether a checker that backtracks can follow it; make it smaller, ${WAY_OUT}`,
    );
  }
}
