// Greedy agreement: how many answers of a build are those of the reference. Where the reference itself was undecided between
// its two best tokens, rounding alone picks one, so such a difference counts as a tie.

import type { Answer } from './answer.ts';

/** A smaller distance between the two best candidates of the reference is a tie. Unit: natural logarithm. */
export const TIE_GAP = 0.05;

export interface AnswerDifference {
  readonly answer: number;
  /** Of the first token that differs. */
  readonly position: number;
  /** How far the best candidate of the reference is above its second there. Unit: natural logarithm. */
  readonly gap: number;
}

export interface Agreement {
  readonly equal: number;
  /** First differences at a gap of at most `TIE_GAP`. */
  readonly ties: number;
  readonly different: number;
  /** Tokens before the first difference, over all answers, and those of the reference. */
  readonly commonTokens: number;
  readonly referenceTokens: number;
  readonly differences: readonly AnswerDifference[];
}

/** Throws: for another number of answers. */
export function compareAnswers(answers: readonly Answer[], reference: readonly Answer[]): Agreement {
  if (answers.length !== reference.length) throw new Error('Answers to other prompts are not comparable.');
  const differences: AnswerDifference[] = [];
  let commonTokens = 0;
  for (const [index, { tokenIds }] of answers.entries()) {
    const expected = reference[index]!;
    const position = firstDifference(tokenIds, expected.tokenIds);
    commonTokens += position ?? tokenIds.length;
    // An answer that is a beginning of the other differs at the end-of-sequence token of the shorter one, or after it.
    if (position !== undefined)
      differences.push({ answer: index, position, gap: expected.gaps[position] ?? Infinity });
  }
  const ties = differences.filter(({ gap }) => gap <= TIE_GAP).length;
  return {
    equal: answers.length - differences.length,
    ties,
    different: differences.length - ties,
    commonTokens,
    referenceTokens: reference.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0),
    differences,
  };
}

function firstDifference(a: readonly number[], b: readonly number[]): number | undefined {
  const shorter = Math.min(a.length, b.length);
  for (let index = 0; index < shorter; index++) if (a[index] !== b[index]) return index;
  return a.length === b.length ? undefined : shorter;
}
