// Regular expressions of requests: Rust's syntax, in which `\d`, `\w` and `\s` keep to ASCII as most callers expect.

import type { Grammar } from '../constraint.ts';
import type { ConstraintLimits } from '../constraint-spec.ts';
import { refuse } from '../refuse.ts';
import { hasNestedCounts, patternSize } from './pattern-size.ts';

const ASCII_CLASSES: Readonly<Record<string, string>> = {
  d: '0-9',
  w: 'A-Za-z0-9_',
  s: ' \\t\\n\\r\\x0B\\x0C',
};

/** The pattern for llguidance. Throws: `invalid_constraint` for constructs that no regular grammar expresses. */
export function checkRegex(pattern: string, place: string, limits: ConstraintLimits): string {
  if (Buffer.byteLength(pattern) > limits.patternBytes)
    refuse(place, `A regular expression may have ${limits.patternBytes} bytes at most`);
  checkPatternSize(pattern, place, limits);
  if (pattern.includes('\0') || !pattern.isWellFormed())
    refuse(place, 'A regular expression may hold neither U+0000 nor half a character');
  if (/(?<!\\)(?:\\\\)*\\$/.test(pattern))
    refuse(place, 'A regular expression must not end in a single backslash');
  // Line ends become escapes on the way, which then match a line end and end no comment.
  if (/(?<!\\)\(\?[a-zA-Z]*x/.test(pattern) && /[\n\r]/.test(pattern))
    refuse(place, 'A regular expression with the flag x must stand on one line');
  let inClass = 0;
  return pattern.replace(/\\[\s\S]|\[\^?\]?|\]|\(\?<?[=!]/g, part => {
    if (part.startsWith('[')) inClass++;
    else if (part === ']') inClass = Math.max(0, inClass - 1);
    else if (part.startsWith('(') && inClass === 0)
      refuse(place, 'Look-ahead and look-behind are not supported');
    else if (/^\\[1-9]$/.test(part)) refuse(place, 'Back-references are not supported');
    else if (/^\\[dws]$/i.test(part)) return asciiClass(part[1]!, inClass > 0);
    return part;
  });
}

/** Throws: `invalid_constraint` naming the place of a pattern whose automaton would be too large. */
export function checkPatternSize(pattern: string, place: string, limits: ConstraintLimits): void {
  const size = patternSize(pattern);
  if (size > limits.patternSize)
    refuse(
      place,
      `With its repetitions written out the pattern has ${size} characters; ${limits.patternSize} are allowed`,
    );
}

/**
 * Throws: `invalid_constraint` when `source`, from which `grammar` was made, nests counted repetitions and a mask would cost
 * more than its budget.
 */
export function checkMaskCost(
  source: string,
  grammar: Grammar,
  place: string,
  fitsMaskBudget: (grammar: Grammar) => boolean,
): void {
  if (hasNestedCounts(source) && !fitsMaskBudget(grammar))
    refuse(
      place,
      'A counted repetition holds another one, and texts fit them in too many ways to be followed; separate the repetitions by a character, or leave out the bounds of one',
    );
}

function asciiClass(letter: string, isInClass: boolean): string {
  const items = ASCII_CLASSES[letter.toLowerCase()]!;
  if (letter !== letter.toLowerCase()) return `[^${items}]`;
  return isInClass ? items : `[${items}]`;
}
