// Decides the next token of a row from the summary that the device sent: the best tokens and, if requested, sums of
// weights. Reports a reason where that is not enough. The steps and every number are those of `../sampler.ts`. Caller:
// `device-sampler.ts`.

import type { SamplingParams } from '../../../request/sampling-params.ts';
import { tokenWeight, type WeightScale, weightScale } from '../kernels/token-weight.ts';
import { minPLimit } from '../processors/min-p.ts';
import { BANNED_LOGIT } from '../token-edits.ts';
import { PART_BITS, type RowShape } from './row-shape.ts';

/** The best tokens of a row, best first, ties by id. */
export interface BestTokens {
  readonly logits: Float32Array;
  readonly tokenIds: Int32Array;
  /** So many are surely the best ones; after them others may have the same logit. */
  readonly knownCount: number;
  /** Whether no other token of the vocabulary can come next. */
  readonly isAll: boolean;
}

export type Decision =
  | { readonly kind: 'token'; readonly tokenId: number }
  /** The token of that block at which the sum of weights, from the block's start, passes the target. */
  | {
      readonly kind: 'in-block';
      readonly block: number;
      readonly target: number;
      readonly scale: WeightScale;
    }
  /** Only the row itself can tell. */
  | { readonly kind: 'open'; readonly reason: OpenReason };

/**
 * - `numbers`: nothing is left of the row, or it is beyond what the device computes exactly.
 * - `ties`: equal logits at the end of what came.
 * - `many`: more tokens may be drawn than came.
 */
export type OpenReason = 'numbers' | 'ties' | 'many';

/** Farther out, differences and products of logits may leave float32. */
const LARGEST_LOGIT = 1e30;

/**
 * `weightSums` has, for each part of a weight, the sum over each block; null where not requested. Shape: `[partCount,
 * sumBlockCount]`. `random` is in [0, 1).
 */
export function decideToken(
  best: BestTokens,
  weightSums: Float32Array | null,
  params: SamplingParams,
  random: number,
  shape: RowShape,
): Decision {
  const { temperature, minP, topK, topP } = params;
  const largest = best.logits[0]!;
  if (!(Math.abs(largest) < LARGEST_LOGIT)) return open('numbers');
  if (temperature === 0) return best.knownCount > 0 ? token(best.tokenIds[0]!) : open('ties');

  const scale = weightScale(largest, temperature, shape.weightBits);
  let limit = BANNED_LOGIT;
  if (minP > 0) limit = Math.max(limit, minPLimit(largest, temperature, minP));
  let reached = countReaching(best, limit);
  if (topK > 0 && topK < shape.vocabSize) {
    if (reached.count >= topK) limit = best.logits[topK - 1]!;
    else if (!reached.isAll) return open('many');
    reached = countReaching(best, limit);
    if (!reached.isAll) return open('ties');
  }
  if (!reached.isAll && (weightSums === null || limit > BANNED_LOGIT)) return open('many');

  if (topP < 1) {
    const weightSum = reached.isAll
      ? weightSumOf(best, reached.count, scale)
      : weightOfAll(weightSums!, shape);
    const count = countForWeightSum(best, reached, topP * weightSum, scale);
    return count === null ? open('many') : drawAmong(best, count, scale, random);
  }
  if (reached.isAll) return drawAmong(best, reached.count, scale, random);
  return drawFromAll(weightSums!, scale, random, shape);
}

interface Reached {
  readonly count: number;
  /** Whether every token of the row that reaches the limit is among them. */
  readonly isAll: boolean;
}

function countReaching({ logits, knownCount, isAll }: BestTokens, limit: number): Reached {
  let count = 0;
  while (count < logits.length && logits[count]! >= limit) count++;
  return { count, isAll: isAll || count <= knownCount };
}

/** Number of best tokens that reach the cumulative weight. Null: more than were read back. */
function countForWeightSum(
  best: BestTokens,
  reached: Reached,
  target: number,
  scale: WeightScale,
): number | null {
  const end = reached.isAll ? reached.count : best.knownCount;
  let weightSum = 0;
  let count = 0;
  while (count < end && weightSum < target) weightSum += tokenWeight(best.logits[count++]!, scale);
  return weightSum < target && !reached.isAll ? null : count;
}

function weightSumOf({ logits }: BestTokens, count: number, scale: WeightScale): number {
  let weightSum = 0;
  for (let i = 0; i < count; i++) weightSum += tokenWeight(logits[i]!, scale);
  return weightSum;
}

function drawAmong(
  { logits, tokenIds }: BestTokens,
  count: number,
  scale: WeightScale,
  random: number,
): Decision {
  const ranks = Array.from({ length: count }, (_, index) => index).sort(
    (a, b) => tokenIds[a]! - tokenIds[b]!,
  );
  const weights = ranks.map(rank => tokenWeight(logits[rank]!, scale));
  let left = Math.floor(random * weights.reduce((sum, weight) => sum + weight, 0));
  for (let i = 0; ; i++) {
    left -= weights[i]!;
    if (left < 0) return token(tokenIds[ranks[i]!]!);
  }
}

function drawFromAll(
  weightSums: Float32Array,
  scale: WeightScale,
  random: number,
  shape: RowShape,
): Decision {
  let left = Math.floor(random * weightOfAll(weightSums, shape));
  for (let block = 0; ; block++) {
    const weightSum = weightOfBlock(weightSums, block, shape);
    if (left < weightSum) return { kind: 'in-block', block, target: left, scale };
    left -= weightSum;
  }
}

function weightOfAll(weightSums: Float32Array, shape: RowShape): number {
  let weightSum = 0;
  for (let block = 0; block < shape.sumBlockCount; block++)
    weightSum += weightOfBlock(weightSums, block, shape);
  return weightSum;
}

function weightOfBlock(
  weightSums: Float32Array,
  block: number,
  { partCount, sumBlockCount }: RowShape,
): number {
  let weightSum = 0;
  for (let part = 0; part < partCount; part++)
    weightSum += weightSums[part * sumBlockCount + block]! * 2 ** (PART_BITS * part);
  return weightSum;
}

function token(tokenId: number): Decision {
  return { kind: 'token', tokenId };
}

function open(reason: OpenReason): Decision {
  return { kind: 'open', reason };
}

/**
 * Shape: `values` is `[2, count]`, logits and ids, logits descending; places after the vocabulary and banned tokens come
 * last and are left out. A device may order equals as it likes, and may have left out equals of the last one.
 */
export function readBest(values: Float32Array, vocabSize: number): BestTokens {
  const count = values.length / 2;
  const last = values[count - 1]!;
  // Everything else that came has a place after the vocabulary or is banned.
  const isAll = last <= BANNED_LOGIT || count >= vocabSize;
  let kept = 0;
  while (kept < count && values[kept]! > BANNED_LOGIT) kept++;
  const ranks = Array.from({ length: kept }, (_, index) => index).sort(
    (a, b) => values[b]! - values[a]! || values[count + a]! - values[count + b]!,
  );
  const logits = Float32Array.from(ranks, rank => values[rank]!);
  const tokenIds = Int32Array.from(ranks, rank => values[count + rank]!);
  let knownCount = kept;
  if (!isAll) while (knownCount > 0 && logits[knownCount - 1] === last) knownCount--;
  return { logits, tokenIds, knownCount, isAll };
}
