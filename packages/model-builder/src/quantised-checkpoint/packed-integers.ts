// Linear layers in the format `pack-quantized` of compressed-tensors. Words of 32 bits hold codes of consecutive inputs, the first one
// in the lowest bits; levels and zero points are stored with half of the codes added.
//
//   weight_packed      [outputs, inputs * bits / 32]
//   weight_scale       [outputs, groups], or one for all
//   weight_zero_point  [outputs * bits / 32, groups]   packed along the outputs; absent in symmetric layers
//   weight_g_idx       [inputs]                        group of each input; with activation order only
//   weight_shape       [2]                             outputs and inputs
//
// Source: compressed-tensors, compressors/pack_quantized.

import type { CompressedTensorsConfig } from './compressed-tensors-config.ts';
import { groupNumbers, levelRange, readGroups } from './input-groups.ts';
import { areFloat16, type IntegerMatrix } from './integer-matrix.ts';
import {
  checkShape,
  checkType,
  elementCount,
  type ModuleTensor,
  pairOf,
  readScales,
  readWords,
  type StoredModule,
  WORD_BITS,
  WORD_TYPES,
} from './stored-module.ts';

/** Throws: `tensor_missing`, `tensor_mismatch`, `weights_corrupt`. */
export async function openPackedIntegers(
  module: StoredModule,
  { integers }: CompressedTensorsConfig,
): Promise<IntegerMatrix> {
  const packed = module.tensor('weight_packed');
  const scale = module.tensor('weight_scale');
  checkType(packed, WORD_TYPES);
  const [outputs, inputs] = await readShape(module.tensor('weight_shape'));
  const [, wordsPerRow] = pairOf(packed, '[outputs, inputs * bits / 32]');
  const scheme = integers.find(({ bits }) => Math.ceil((inputs * bits) / WORD_BITS) === wordsPerRow);
  if (scheme === undefined) {
    const bits = integers.map(declared => declared.bits).join(' or ');
    const message = `has shape [${packed.shape}] for ${inputs} inputs, which is not that of the ${bits} bits that config.json declares`;
    throw packed.fault('tensor_mismatch', message);
  }
  const { bits } = scheme;
  checkShape(packed, [outputs, wordsPerRow], `outputs, inputs * ${bits} / 32`);
  const groupCount = groupCountOf(scale, outputs);
  const order = module.find('weight_g_idx');
  const groups = await readGroups({ inputs, groupCount, bits, schemes: integers, tensor: packed, order });
  const zeroPoint = module.find('weight_zero_point');
  if (zeroPoint === undefined && !integers.some(declared => declared.bits === bits && declared.isSymmetric))
    module.tensor('weight_zero_point');
  if (zeroPoint !== undefined)
    checkShape(
      zeroPoint,
      [Math.ceil((outputs * bits) / WORD_BITS), groupCount],
      `outputs * ${bits} / 32, groups`,
    );
  const zerosOf = (first: number, count: number) =>
    readZeroPoints(zeroPoint, { first, count, groupCount, bits });
  const range = levelRange(bits, await zerosOf(0, outputs));
  const hasFloat16Scales = areFloat16(await readScales(scale, 0, elementCount(scale)));
  const codesPerWord = WORD_BITS / bits;
  const mask = 2 ** bits - 1;
  return {
    type: `compressed-tensors INT${bits}${groups.kind === 'ordered' ? ' with act-order' : ''}`,
    shape: [outputs, inputs],
    groups,
    range,
    hasFloat16Scales,
    async readRows(first, count) {
      const words = await readWords(packed, first * wordsPerRow, count * wordsPerRow);
      const zeros = await zerosOf(first, count);
      const levels = new Int16Array(count * inputs);
      const groupOf = groupNumbers(groups, inputs);
      for (let row = 0; row < count; row++) {
        const zeroStart = row * groupCount;
        for (let input = 0; input < inputs; input++) {
          const word = words[row * wordsPerRow + Math.floor(input / codesPerWord)]!;
          const code = (word >>> ((input % codesPerWord) * bits)) & mask;
          levels[row * inputs + input] = code - zeros[zeroStart + groupOf[input]!]!;
        }
      }
      return { levels, scales: await readScaleRows(scale, { first, count, groupCount }) };
    },
  };
}

/** Outputs and inputs. */
async function readShape(tensor: ModuleTensor): Promise<readonly [number, number]> {
  checkType(tensor, ['I64', 'I32']);
  checkShape(tensor, [2], 'outputs and inputs');
  const bytes = new Uint8Array(tensor.type === 'I64' ? 16 : 8);
  await tensor.readBytes(0, bytes);
  const sizes = tensor.type === 'I64' ? new BigInt64Array(bytes.buffer) : new Int32Array(bytes.buffer);
  const [outputs, inputs] = [Number(sizes[0]), Number(sizes[1])];
  if (outputs > 0 && inputs > 0 && Number.isSafeInteger(outputs * inputs)) return [outputs, inputs];
  throw tensor.fault('tensor_mismatch', `holds ${outputs} and ${inputs}, which are not outputs and inputs`);
}

/** Groups of `[outputs, groups]`, of `[outputs]`, or of one scale for all. Throws: `tensor_mismatch`. */
export function groupCountOf(scale: ModuleTensor, outputs: number): number {
  const { shape } = scale;
  if (elementCount(scale) === 1 || (shape.length === 1 && shape[0] === outputs)) return 1;
  if (shape.length === 2 && shape[0] === outputs && shape[1]! > 0) return shape[1]!;
  throw scale.fault(
    'tensor_mismatch',
    `has shape [${shape}], not [${outputs} outputs, groups], and not one element`,
  );
}

export interface GroupRows {
  readonly first: number;
  readonly count: number;
  readonly groupCount: number;
}

/** Shape: `[count, groups]`. A single scale is that of every row. */
export async function readScaleRows(
  scale: ModuleTensor,
  { first, count, groupCount }: GroupRows,
): Promise<Float32Array> {
  if (elementCount(scale) > 1) return readScales(scale, first * groupCount, count * groupCount);
  const [only] = await readScales(scale, 0, 1);
  return new Float32Array(count).fill(only!);
}

/** As codes: in symmetric layers those in the middle. Shape: `[count, groups]`. */
async function readZeroPoints(
  tensor: ModuleTensor | undefined,
  { first, count, groupCount, bits }: GroupRows & { readonly bits: number },
): Promise<Uint8Array> {
  const zeros = new Uint8Array(count * groupCount).fill(2 ** (bits - 1));
  if (tensor === undefined) return zeros;
  const perWord = WORD_BITS / bits;
  const [begin, end] = [Math.floor(first / perWord), Math.ceil((first + count) / perWord)];
  const words = await readWords(tensor, begin * groupCount, (end - begin) * groupCount);
  for (let row = 0; row < count; row++) {
    const output = first + row;
    for (let group = 0; group < groupCount; group++) {
      const word = words[(Math.floor(output / perWord) - begin) * groupCount + group]!;
      zeros[row * groupCount + group] = (word >>> ((output % perWord) * bits)) & (2 ** bits - 1);
    }
  }
  return zeros;
}
