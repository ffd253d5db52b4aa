// Pieces that the graphs of this folder are made of. Each operator is a kernel of its own on a device, so nothing is fused
// and every float32 operation rounds by itself, which `../kernels/token-weight.ts` and the processors require.

import type { GraphWriter, Value } from '@ortler/onnx';
import { EXP2_COEFFICIENTS, LOWEST_POWER, ROUNDER } from '../kernels/token-weight.ts';
import { BANNED_LOGIT } from '../token-edits.ts';
import { PART_BITS, type RowShape, SUM_BLOCK_LENGTH, TOP_BLOCK_LENGTH } from './row-shape.ts';

/** From here on a float32 is a whole number. */
const WHOLE_FROM = 2 ** 23;
/** Splits a float32 in two halves whose products are exact. */
const SPLITTER = 2 ** 12 + 1;

/** The rows of `logits` that `rows` names, padded. Shape: `[rowCount, paddedLength]`. */
export function selectRows(graph: GraphWriter, logits: Value, rows: Value, shape: RowShape): Value {
  const selected = graph.op('Gather', [logits, rows], { axis: 0 });
  const padding = graph.int64(0, 0, 0, shape.paddedLength - shape.vocabSize);
  return graph.op('Pad', [selected, padding, graph.floats([BANNED_LOGIT])]);
}

/** Leaves the tokens whose bit is set. Shape: `mask` is int32 `[rowCount, paddedLength / 16]`, 16 bits in each. */
export function applyMask(graph: GraphWriter, row: Value, mask: Value, shape: RowShape): Value {
  const powers = graph.int32(
    Array.from({ length: 16 }, (_, bit) => 2 ** bit),
    [16],
  );
  const two = graph.int32([2], []);
  const shifted = graph.op('Div', [graph.reshape(mask, -1, shape.paddedLength / 16, 1), powers]);
  const odd = graph.subtract(shifted, graph.multiply(graph.op('Div', [shifted, two]), two));
  const bits = graph.reshape(graph.cast(odd, 'float32'), -1, shape.paddedLength);
  const isAllowed = graph.op('Greater', [bits, graph.floats([0.5])]);
  return graph.op('Where', [isAllowed, row, graph.floats([BANNED_LOGIT])]);
}

/** The `count` best tokens, best first: logits and, as float32, ids. Shape of each: `[rowCount, count]`. */
export function bestTokens(
  graph: GraphWriter,
  row: Value,
  count: number,
  shape: RowShape,
): { readonly logits: Value; readonly tokenIds: Value } {
  const blockCount = shape.paddedLength / TOP_BLOCK_LENGTH;
  const keptCount = Math.min(count, blockCount);
  const blocks = graph.reshape(row, -1, blockCount, TOP_BLOCK_LENGTH);
  // The best tokens are in the blocks with the best tokens.
  const maxima = graph.op('ReduceMax', [blocks, graph.int64(2)], { keepdims: 0 });
  const [, index] = graph.ops('TopK', [maxima, graph.int64(keptCount)], 2, { axis: 1 }) as [Value, Value];
  const width = keptCount * TOP_BLOCK_LENGTH;
  // Devices have few kernels for int64, which TopK gives: a table turns it into float32.
  const numbers = graph.op('Gather', [graph.floats(range(blockCount, 1), [blockCount]), index]);
  const spread = graph.floats(new Array(TOP_BLOCK_LENGTH).fill(0), [1, 1, TOP_BLOCK_LENGTH]);
  const block = graph.add(graph.reshape(numbers, -1, keptCount, 1), spread);
  const kept = graph.op('GatherElements', [blocks, graph.cast(block, 'int32')], { axis: 1 });
  const firstIds = graph.multiply(block, graph.floats([TOP_BLOCK_LENGTH]));
  const ids = graph.add(firstIds, graph.floats(range(TOP_BLOCK_LENGTH, 1), [1, 1, TOP_BLOCK_LENGTH]));
  const [logits, position] = graph.ops('TopK', [graph.reshape(kept, -1, width), graph.int64(count)], 2, {
    axis: 1,
  }) as [Value, Value];
  const tokenIds = graph.op('GatherElements', [graph.reshape(ids, -1, width), position], { axis: 1 });
  return { logits, tokenIds };
}

/** The edits of `TokenEdits`, at the tokens that it names. Shape of each: `[rowCount, editCount]`. */
export interface EditInputs {
  readonly tokenIds: Value;
  readonly biases: Value;
  readonly penalties: Value;
  /** The upper half of the bits of `penalties`; null where no row has a penalty. */
  readonly penaltyHalves: Value | null;
  readonly frequencies: Value;
  readonly presences: Value;
}

export function applyEdits(graph: GraphWriter, row: Value, edits: EditInputs): Value {
  const logits = graph.op('GatherElements', [row, edits.tokenIds], { axis: 1 });
  let edited = graph.add(logits, edits.biases);
  if (edits.penaltyHalves !== null) {
    const quotient = divide(graph, edited, edits.penalties, edits.penaltyHalves);
    const product = graph.multiply(edited, edits.penalties);
    const isPositive = graph.op('Greater', [edited, graph.floats([0])]);
    edited = graph.op('Where', [isPositive, quotient, product]);
    edited = graph.op('Max', [edited, graph.floats([BANNED_LOGIT])]);
    edited = graph.op('Min', [edited, graph.floats([-BANNED_LOGIT])]);
  }
  edited = graph.subtract(graph.subtract(edited, edits.frequencies), edits.presences);
  return graph.op('ScatterElements', [row, edits.tokenIds, edited], { axis: 1 });
}

/**
 * A division with the rounding of IEEE 754; that of a shader may be off by some units in the last place. Twice the
 * rest of the division, which two float32 hold exactly, is divided again; then the quotient and its two neighbours are
 * compared by their rests, and the least rest wins.
 */
function divide(graph: GraphWriter, dividend: Value, divisor: Value, divisorHigh: Value): Value {
  const divisorLow = graph.subtract(divisor, divisorHigh);
  const rest = (quotient: Value): Value => {
    const scaled = graph.multiply(quotient, graph.floats([SPLITTER]));
    const high = graph.subtract(scaled, graph.subtract(scaled, quotient));
    const low = graph.subtract(quotient, high);
    const product = graph.multiply(quotient, divisor);
    let error = graph.subtract(graph.multiply(high, divisorHigh), product);
    error = graph.add(error, graph.multiply(high, divisorLow));
    error = graph.add(error, graph.multiply(low, divisorHigh));
    error = graph.add(error, graph.multiply(low, divisorLow));
    return graph.subtract(graph.subtract(dividend, product), error);
  };
  let quotient = graph.op('Div', [dividend, divisor]);
  for (let turn = 0; turn < 2; turn++)
    quotient = graph.add(quotient, graph.op('Div', [rest(quotient), divisor]));
  // Between half a unit of the last place and a whole one, at either end of a power of two.
  const unit = graph.multiply(quotient, graph.floats([0.6 * 2 ** -23]));
  const size = (value: Value): Value => graph.op('Abs', [rest(value)]);
  let best = quotient;
  let least = size(quotient);
  for (const neighbour of [graph.add(quotient, unit), graph.subtract(quotient, unit)]) {
    const other = size(neighbour);
    const isBetter = graph.op('Less', [other, least]);
    best = graph.op('Where', [isBetter, neighbour, best]);
    least = graph.op('Where', [isBetter, other, least]);
  }
  return best;
}

/**
 * The weights of tokens as `tokenWeight` defines them, cut into parts of `PART_BITS` bits, lowest first. Shape: `largest`
 * and `factor` are `[rowCount, 1]`.
 */
export function weightParts(
  graph: GraphWriter,
  logits: Value,
  { largest, factor }: { readonly largest: Value; readonly factor: Value },
  { weightBits, partCount }: RowShape,
): readonly Value[] {
  const scaled = graph.multiply(graph.subtract(logits, largest), factor);
  const power = graph.op('Max', [scaled, graph.floats([LOWEST_POWER])]);
  const rounder = graph.floats([ROUNDER + weightBits]);
  const whole = graph.subtract(graph.add(power, rounder), rounder);
  const fraction = graph.subtract(power, whole);
  const [last, ...others] = EXP2_COEFFICIENTS.toReversed() as [number, ...number[]];
  let sum = graph.floats([last]);
  for (const coefficient of [...others, 1])
    sum = graph.add(graph.multiply(sum, fraction), graph.floats([coefficient]));
  const powers = Array.from(
    { length: 1 - LOWEST_POWER },
    (_, index) => 2 ** (index + LOWEST_POWER + weightBits),
  );
  const place = graph.cast(graph.subtract(whole, graph.floats([LOWEST_POWER])), 'int32');
  const exact = graph.multiply(sum, graph.op('Gather', [graph.floats(powers, [powers.length]), place]));
  const wholeFrom = graph.floats([WHOLE_FROM]);
  const rounded = graph.subtract(graph.add(exact, wholeFrom), wholeFrom);
  let rest = graph.op('Where', [graph.op('Less', [exact, wholeFrom]), rounded, exact]);
  const parts: Value[] = [];
  for (let part = partCount - 1; part > 0; part--) {
    const upper = graph.op('Floor', [graph.multiply(rest, graph.floats([2 ** (-PART_BITS * part)]))]);
    rest = graph.subtract(rest, graph.multiply(upper, graph.floats([2 ** (PART_BITS * part)])));
    parts.unshift(upper);
  }
  return [rest, ...parts];
}

/** The row in blocks that are summed. Shape: `[rowCount, sumBlockCount, SUM_BLOCK_LENGTH]`. */
export function inSumBlocks(graph: GraphWriter, row: Value, { sumBlockCount }: RowShape): Value {
  return graph.reshape(row, -1, sumBlockCount, SUM_BLOCK_LENGTH);
}

function range(count: number, step: number): number[] {
  return Array.from({ length: count }, (_, index) => index * step);
}
