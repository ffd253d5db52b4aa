// Splits a text at the matches of a pattern, in each of the ways in which pre-tokenizers keep or drop what matched.

import { type StageJson, unsupported } from './stage.ts';

const BEHAVIORS = ['Removed', 'Isolated', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous'] as const;
export type SplitBehavior = (typeof BEHAVIORS)[number];

/** Throws: `model_invalid` for another behaviour. */
export function behaviorOf(stage: StageJson): SplitBehavior {
  const name = String(stage.behavior);
  // Files of before 2021 write it in lower case.
  const behavior = BEHAVIORS.find(known => known.toLowerCase() === name.toLowerCase());
  if (behavior === undefined) throw unsupported(`${stage.type} behavior`, name, BEHAVIORS.join(', '));
  return behavior;
}

interface Piece {
  start: number;
  end: number;
  readonly isMatch: boolean;
}

/** The pieces of a text in order, none of them empty. `pattern` is global; `inverted` swaps what matched and what did not. */
export function splitText(
  text: string,
  pattern: RegExp,
  behavior: SplitBehavior,
  inverted = false,
): string[] {
  if (behavior === 'Isolated') return isolate(text, pattern);
  const pieces = findPieces(text, pattern, inverted);
  const merged = merge(pieces, behavior);
  return merged.map(({ start, end }) => text.slice(start, end)).filter(piece => piece !== '');
}

/**
 * The common case: every match is a piece, and so is the text between two of them. An empty match cuts where
 * it is: before every three digits, for example.
 */
function isolate(text: string, pattern: RegExp): string[] {
  const pieces: string[] = [];
  let from = 0;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const [found] = match;
    if (found === '') {
      pattern.lastIndex += text.codePointAt(match.index)! > 0xffff ? 2 : 1;
      if (isInCharacter(text, match.index)) continue;
    }
    if (match.index > from) pieces.push(text.slice(from, match.index));
    if (found !== '') pieces.push(found);
    from = match.index + found.length;
  }
  if (from < text.length) pieces.push(text.slice(from));
  return pieces;
}

/** The matches as the original counts them: none that is empty directly after another one, or inside of a character. */
export function* findMatches(text: string, pattern: RegExp): Generator<{ start: number; end: number }> {
  let lastEnd = -1;
  for (const { 0: found, index } of text.matchAll(pattern)) {
    if (found === '' && (index === lastEnd || isInCharacter(text, index))) continue;
    lastEnd = index + found.length;
    yield { start: index, end: lastEnd };
  }
}

/** Whether the place is between the two halves of a surrogate pair, where a negated look-around may match. */
function isInCharacter(text: string, at: number): boolean {
  return at > 0 && text.codePointAt(at - 1)! > 0xffff;
}

function findPieces(text: string, pattern: RegExp, inverted: boolean): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const { start, end } of findMatches(text, pattern)) {
    if (start > from) pieces.push({ start: from, end: start, isMatch: inverted });
    pieces.push({ start, end, isMatch: !inverted });
    from = end;
  }
  if (from < text.length) pieces.push({ start: from, end: text.length, isMatch: inverted });
  return pieces;
}

function merge(pieces: readonly Piece[], behavior: SplitBehavior): readonly Piece[] {
  switch (behavior) {
    case 'Removed':
      return pieces.filter(piece => !piece.isMatch);
    case 'Contiguous':
      return joinWhere(pieces, (before, piece) => before.isMatch === piece.isMatch);
    case 'MergedWithPrevious':
      return joinWhere(pieces, (before, piece) => piece.isMatch && !before.isMatch);
    case 'MergedWithNext':
      return joinWhere(pieces, (before, piece) => before.isMatch && !piece.isMatch);
    case 'Isolated':
      return pieces;
  }
}

/** `joins` gets neighbours as they were found. */
function joinWhere(
  pieces: readonly Piece[],
  joins: (before: Piece, piece: Piece) => boolean,
): readonly Piece[] {
  const joined: Piece[] = [];
  for (const [i, piece] of pieces.entries()) {
    const last = joined.at(-1);
    if (last !== undefined && joins(pieces[i - 1]!, piece)) last.end = piece.end;
    else joined.push({ ...piece });
  }
  return joined;
}
