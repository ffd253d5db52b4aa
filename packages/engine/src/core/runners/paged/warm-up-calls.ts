// The calls that a paged runner makes before its first request. Kernels are compiled when a call first needs them, and
// which ones it needs depends on whether it has one token, a few or many, and whether all sequences decode.

import type { RunnerRow } from '../model-runner.ts';

export interface WarmUpLimits {
  readonly blockCount: number;
  readonly blockLength: number;
  readonly contextLength: number;
  readonly slotCount: number;
  /** Maximum number of tokens in a chunk. */
  readonly chunkLength: number;
}

/** Rows of each call. They write blocks from the first one on, which are still empty. */
export function warmUpCalls(limits: WarmUpLimits): readonly (readonly RunnerRow[])[] {
  const { blockCount, blockLength, contextLength, slotCount } = limits;
  const chunkLength = Math.min(limits.chunkLength, contextLength);
  const chunkBlocks = Math.ceil(chunkLength / blockLength);
  // As many decodes as have a block of their own after the chunk's.
  const decodeCount = Math.min(slotCount, blockCount - chunkBlocks);
  const chunk = rowOf(0, { computedLength: 0, length: chunkLength }, chunkBlocks);
  // The cache before a decode does not matter: its memory was never written.
  const computedLength = Math.min(blockLength, contextLength) - 1;
  const decodes = Array.from({ length: decodeCount }, (_, index) =>
    rowOf(chunkBlocks + index, { computedLength, length: 1 }, 1),
  );
  const single = rowOf(0, { computedLength, length: 1 }, 1);
  const few = [2, 9].map(length =>
    rowOf(0, { computedLength: 0, length: Math.min(length, contextLength) }, 1),
  );
  const calls = [[chunk], [single], ...few.map(row => [row])];
  if (decodeCount > 1) calls.push(decodes);
  if (decodeCount > 0) calls.push([...decodes, chunk]);
  return calls;
}

function rowOf(
  firstBlock: number,
  tokens: { readonly computedLength: number; readonly length: number },
  blockCount: number,
): RunnerRow {
  return {
    slot: 0,
    blocks: Int32Array.from({ length: blockCount }, (_, index) => firstBlock + index),
    tokenIds: new Int32Array(tokens.length),
    computedLength: tokens.computedLength,
    logitsCount: 1,
  };
}
