// A text in runs of whole lines, each of which is a block of its own: the browser does not lay out the whole text again for each
// token that comes. Pure.

import type { ShownToken } from './answer-reader.ts';

/** A run ends at the first end of a line from here on. */
const MIN_RUN_TOKENS = 64;
const MIN_RUN_CHARACTERS = 512;

export interface TokenRun {
  /** Index of its first token. */
  readonly start: number;
  readonly tokens: readonly ShownToken[];
}

/** A token that is added changes the last run alone. */
export function toTokenRuns(tokens: readonly ShownToken[]): readonly TokenRun[] {
  const runs: TokenRun[] = [];
  let start = 0;
  for (const [index, { text }] of tokens.entries()) {
    const isLast = index === tokens.length - 1;
    if (!isLast && (index + 1 - start < MIN_RUN_TOKENS || !text.endsWith('\n'))) continue;
    runs.push({ start, tokens: tokens.slice(start, index + 1) });
    start = index + 1;
  }
  return runs;
}

/** At least one; text that is added changes the last one alone. */
export function toTextRuns(text: string): readonly string[] {
  const runs: string[] = [];
  let start = 0;
  do {
    const lineEnd = text.indexOf('\n', start + MIN_RUN_CHARACTERS);
    const end = lineEnd === -1 ? text.length : lineEnd + 1;
    runs.push(text.slice(start, end));
    start = end;
  } while (start < text.length);
  return runs;
}
