// A matrix of a quantised checkpoint with integers and scales, whatever packing its file has:
//   weight[output, input] = level[output, input] * scale[output, group of the input]
// A level is a code minus its zero point. Readers of packings make these; here they become tensors of the builder.

import { BLOCK_INPUTS, codeOffset, type QuantisedFormat, WEIGHT_FORMATS } from '@ortler/kernels';
import { assertInvariant } from '../errors.ts';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import { allocateCodeRows, type CodeRows, type StoredCodes } from '../stored-codes.ts';

/** Which inputs share a scale: runs of `size`, or the group of each input with activation order. */
export type InputGroups =
  | { readonly kind: 'runs'; readonly count: number; readonly size: number }
  | { readonly kind: 'ordered'; readonly count: number; readonly of: Uint32Array };

export interface IntegerRows {
  /** Shape: `[rows, inputs]`. */
  readonly levels: Int16Array;
  /** Shape: `[rows, groups]`. */
  readonly scales: Float32Array;
}

export interface IntegerMatrix {
  /** For people: `GPTQ 4-bit`. */
  readonly type: string;
  /** `[outputs, inputs]`. */
  readonly shape: readonly [number, number];
  readonly groups: InputGroups;
  /** Smallest and largest level that codes and zero points of the file allow. */
  readonly range: readonly [lowest: number, highest: number];
  /** Whether every scale is a value of float16. */
  readonly hasFloat16Scales: boolean;
  /** Rows `[first, first + count)`. Throws: `weights_corrupt`, `tensor_mismatch`. */
  readRows(first: number, count: number): Promise<IntegerRows>;
}

/** By size. Those with minimums hold no product of a scale and a zero point without rounding it. */
const CANDIDATES: readonly QuantisedFormat[] = ['q4', 'q5', 'q6', 'q8'];

/** The smallest format of the CPU kernels that holds every value; undefined where none does. */
export function exactFormat({
  shape,
  groups,
  range,
  hasFloat16Scales,
}: Pick<IntegerMatrix, 'shape' | 'groups' | 'range' | 'hasFloat16Scales'>): QuantisedFormat | undefined {
  if (!hasFloat16Scales || groups.kind === 'ordered') return undefined;
  const hasWholeBlocks = groups.count === 1 || groups.size % BLOCK_INPUTS === 0;
  if (!hasWholeBlocks || shape[1] % BLOCK_INPUTS !== 0) return undefined;
  const [lowest, highest] = range;
  return CANDIDATES.find(format => {
    const offset = codeOffset(format);
    return lowest >= -offset && highest < 2 ** WEIGHT_FORMATS[format].bits - offset;
  });
}

export function integerTensor(name: string, matrix: IntegerMatrix): CheckpointTensor {
  const { type, shape } = matrix;
  const format = exactFormat(matrix);
  const codes: StoredCodes | undefined =
    format === undefined
      ? undefined
      : {
          format,
          readRows: async (first, count) =>
            toCodeRows(await matrix.readRows(first, count), matrix, codeOffset(format)),
        };
  return {
    name,
    shape,
    quantised: { type, codes },
    async readFloats(from, target) {
      const width = shape[1];
      const isWhole = from % width === 0 && target.length % width === 0;
      assertInvariant(isWhole, `${name} is read in whole rows`);
      dequantiseRows(await matrix.readRows(from / width, target.length / width), matrix, target);
    },
  };
}

/** The one rounding is that of the product to float32, and none with scales in 16 bits. Mutates: `target`. */
function dequantiseRows(
  { levels, scales }: IntegerRows,
  { shape: [, width], groups }: IntegerMatrix,
  target: Float32Array,
): void {
  const rows = target.length / width;
  for (let row = 0; row < rows; row++) {
    const scaleStart = row * groups.count;
    for (let input = 0; input < width; input++) {
      const group = groups.kind === 'runs' ? Math.floor(input / groups.size) : groups.of[input]!;
      target[row * width + input] = levels[row * width + input]! * scales[scaleStart + group]!;
    }
  }
}

/** `offset`: the code that stands for zero. */
function toCodeRows(
  { levels, scales }: IntegerRows,
  { shape: [, width], groups }: IntegerMatrix,
  offset: number,
): CodeRows {
  const rowCount = levels.length / width;
  const rows = allocateCodeRows(rowCount, width);
  for (let i = 0; i < levels.length; i++) rows.codes[i] = levels[i]! + offset;
  const halves = new Float16Array(rows.scales.buffer);
  const blocks = width / BLOCK_INPUTS;
  assertInvariant(groups.kind === 'runs', 'blocks have scales in runs of inputs');
  for (let row = 0; row < rowCount; row++)
    for (let block = 0; block < blocks; block++) {
      const group = Math.floor((block * BLOCK_INPUTS) / groups.size);
      halves[row * blocks + block] = scales[row * groups.count + group]!;
    }
  return rows;
}

/** Whether all are values of float16, so that scales of the kernels hold them. */
export function areFloat16(scales: Float32Array): boolean {
  for (let i = 0; i < scales.length; i++) if (Math.f16round(scales[i]!) !== scales[i]) return false;
  return true;
}
