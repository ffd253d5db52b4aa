// The interface between runners with slots and the ways of calling a graph: its small inputs, and where logits come out.
// `lengths-convention.ts` is for our own graphs, `mask-convention.ts` for exports of other programs; runners know neither.

import type { OrtTensor } from '@ortler/onnxruntime';
import type { RunnerRow } from '../model-runner.ts';

/** Sizes of the arrays of a call. */
export interface CallShape {
  readonly batchSize: number;
  /** Tokens of each row. */
  readonly length: number;
  /** Positions of each row that get logits, counted from the last one back; at least one. */
  readonly logitsPerRow: number;
  /** `span` of the convention for the longest row. */
  readonly span: number;
}

/** The small inputs of calls of one shape, in arrays that are refilled. */
export interface CallInputs {
  readonly tensors: ReadonlyMap<string, OrtTensor>;
  /** Mutates: the arrays. The first of `rows`, as many as the batch has, each of the batch's length. */
  fill(rows: readonly RunnerRow[]): void;
  dispose(): void;
}

/** Where the logits of a call come out, the vocabulary aside. */
export interface LogitsPlace {
  /** Dimensions before that of the vocabulary. */
  readonly dims: readonly number[];
  /** Rows of the output, one after the other, before the first that was asked for. */
  readonly firstRow: number;
}

export interface CallConvention {
  /** Maximum number of tokens that one call of a prompt's chunk may have. */
  readonly chunkLimit: number;
  /** Part of a call's shape: which totals of tokens share prepared calls. `longest`: the longest row after the call. */
  span(longest: number): number;
  /** Inputs of some calls of a convention share memory: they are filled directly before each run. */
  createInputs(shape: CallShape): CallInputs;
  logitsPlace(shape: CallShape): LogitsPlace;
}

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
