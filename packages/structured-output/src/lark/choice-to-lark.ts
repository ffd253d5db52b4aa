// A choice of texts -> Lark. Equal texts are one; the order means nothing.

import type { ConstraintLimits } from '../constraint-spec.ts';
import { larkLiteral } from './write-lark.ts';
import { refuse } from '../refuse.ts';

/** Throws: `invalid_constraint` when there is no text, or too many. */
export function choiceToLark(choices: readonly string[], limits: ConstraintLimits): string {
  if (choices.length === 0) refuse('choice', 'A choice needs at least one text');
  if (choices.length > limits.valueCount)
    refuse('choice', `A choice may have ${limits.valueCount} texts at most`);
  return `start: ${[...new Set(choices)].map(larkLiteral).join(' | ')}`;
}
