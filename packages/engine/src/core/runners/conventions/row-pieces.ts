// A row as rows of few enough tokens for one call.

import type { RunnerRow } from '../model-runner.ts';

/** The row as rows of at most `limit` tokens, one after the other, which together have its logits. */
export function inPieces(row: RunnerRow, limit: number): readonly RunnerRow[] {
  const { slot, tokenIds, computedLength, logitsCount } = row;
  if (tokenIds.length <= limit) return [row];
  const firstLogit = tokenIds.length - logitsCount;
  const pieces: RunnerRow[] = [];
  for (let start = 0; start < tokenIds.length; start += limit) {
    const part = tokenIds.subarray(start, start + limit);
    const count = Math.min(part.length, Math.max(0, start + part.length - firstLogit));
    pieces.push({ slot, tokenIds: part, computedLength: computedLength + start, logitsCount: count });
  }
  return pieces;
}
