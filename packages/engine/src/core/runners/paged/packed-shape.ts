// How large the arrays of a packed call are: pure arithmetic over counts. Sizes are rounded up to few, so that calls are
// prepared for few sizes and a device keeps working in the buffers it has; what is too much is padding.

import type { RunnerRow } from '../model-runner.ts';

export interface PackedShape {
  /** Tokens of all rows, padding included. */
  readonly tokenCount: number;
  /** Sequences, those that only hold padding included. */
  readonly batchSize: number;
  /** Blocks of a sequence in the block table. */
  readonly tableWidth: number;
  /** Rows of logits. At least 1: the graph computes some, also where they are not read. */
  readonly logitsCount: number;
}

/** Tokens of the padding rows, one after the other: spread evenly, so that decodes stay one token each. */
export function paddingLengths(padCount: number, rowCount: number): number[] {
  return Array.from({ length: rowCount }, (_, row) =>
    Math.floor(padCount / rowCount + (row < padCount % rowCount ? 1 : 0)),
  );
}

/** The shape of a call that has room for these rows. */
export function packedShape(rows: readonly RunnerRow[], blockLength: number): PackedShape {
  let tokens = 0;
  let logits = 0;
  let longest = 0;
  for (const { tokenIds, computedLength, logitsCount } of rows) {
    tokens += tokenIds.length;
    logits += logitsCount;
    longest = Math.max(longest, computedLength + tokenIds.length);
  }
  const tokenCount = roundedSize(tokens);
  const padCount = tokenCount - tokens;
  // The cumulative lengths end at the token count, so padding needs a row of its own.
  const batchSize = roundedSize(rows.length + Number(padCount > 0));
  if (padCount > 0) longest = Math.max(longest, Math.ceil(padCount / (batchSize - rows.length)));
  return {
    tokenCount,
    batchSize,
    tableWidth: powerOfTwo(Math.ceil(longest / blockLength)),
    logitsCount: powerOfTwo(logits),
  };
}

/** Limits of a call, besides the needs of its rows. */
export interface PackedLimits {
  readonly headCount: number;
  readonly kvHeadCount: number;
  readonly headSize: number;
  /** Unit: bytes of a number. */
  readonly elementBytes: number;
  /** Unit: bytes of one tensor on the device. Absent: no limit is known. */
  readonly maxTensorBytes?: number | undefined;
}

/**
 * Cuts rows into calls, most of the time one. The operator lays out queries as `[batch, longest query]` and keys as
 * `[batch, longest sequence]`, padded, and has no room for more than one tensor can hold.
 */
export function splitRows(
  rows: readonly RunnerRow[],
  limits: PackedLimits,
): readonly (readonly RunnerRow[])[] {
  const { headCount, kvHeadCount, headSize, elementBytes, maxTensorBytes } = limits;
  if (maxTensorBytes === undefined) return [rows];
  const most = maxTensorBytes / (headSize * elementBytes);
  const calls: (readonly RunnerRow[])[] = [];
  let first = 0;
  let longestQuery = 0;
  let longest = 0;
  for (const [index, { tokenIds, computedLength }] of rows.entries()) {
    const query = Math.max(longestQuery, tokenIds.length);
    const whole = Math.max(longest, computedLength + tokenIds.length);
    // Sizes are rounded up later, by an eighth at most, and padding may take a row.
    const batchSize = roundedSize(index - first + 2);
    const isTooLarge = batchSize * Math.max(query * headCount, whole * kvHeadCount) > most;
    if (index > first && isTooLarge) {
      calls.push(rows.slice(first, index));
      first = index;
      longestQuery = tokenIds.length;
      longest = computedLength + tokenIds.length;
    } else {
      longestQuery = query;
      longest = whole;
    }
  }
  calls.push(rows.slice(first));
  return calls;
}

/** The next size in steps of an eighth of the power of two below. All sizes up to 16 are sizes. */
export function roundedSize(count: number): number {
  const step = Math.max(1, powerOfTwo(count + 1) / 16);
  return Math.ceil(count / step) * step;
}

/** The least power of two that is not below the count; 1 for 0. */
export function powerOfTwo(count: number): number {
  let power = 1;
  while (power < count) power *= 2;
  return power;
}
