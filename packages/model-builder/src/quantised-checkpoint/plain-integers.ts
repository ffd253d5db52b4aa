// Linear layers in the formats `int-quantized` and `naive-quantized` of compressed-tensors: one level in each byte.
//
//   weight             [outputs, inputs]    I8
//   weight_scale       [outputs, groups], [outputs], or one for all
//   weight_zero_point  as the scale         I8; absent or zero in symmetric layers
//
// Source: compressed-tensors, compressors/naive_quantized.

import type { CompressedTensorsConfig } from './compressed-tensors-config.ts';
import { groupNumbers, readGroups } from './input-groups.ts';
import { areFloat16, type IntegerMatrix } from './integer-matrix.ts';
import { groupCountOf, readScaleRows } from './packed-integers.ts';
import {
  checkShape,
  checkType,
  elementCount,
  type ModuleTensor,
  pairOf,
  readScales,
  type StoredModule,
} from './stored-module.ts';

/** Throws: `tensor_missing`, `tensor_mismatch`, `weights_corrupt`. */
export async function openPlainIntegers(
  module: StoredModule,
  { integers }: CompressedTensorsConfig,
): Promise<IntegerMatrix> {
  const weight = module.tensor('weight');
  const scale = module.tensor('weight_scale');
  const [outputs, inputs] = pairOf(weight, '[outputs, inputs]');
  const groupCount = groupCountOf(scale, outputs);
  const order = module.find('weight_g_idx');
  const groups = await readGroups({
    inputs,
    groupCount,
    bits: undefined,
    schemes: integers,
    tensor: weight,
    order,
  });
  const hasFloat16Scales = areFloat16(await readScales(scale, 0, elementCount(scale)));
  const zeroPoint = findZeroPoints(module, integers);
  if (zeroPoint !== undefined) {
    checkType(zeroPoint, ['I8']);
    checkShape(zeroPoint, scale.shape, 'one for each scale');
  }
  const zeros = await readZeroPoints(zeroPoint, 0, elementCount(scale));
  let [min, max] = [0, 0];
  for (const zero of zeros) [min, max] = [Math.min(min, zero), Math.max(max, zero)];
  return {
    type: `compressed-tensors INT8${groups.kind === 'ordered' ? ' with act-order' : ''}`,
    shape: [outputs, inputs],
    groups,
    range: [-128 - max, 127 - min],
    hasFloat16Scales,
    async readRows(first, count) {
      const bytes = new Int8Array(count * inputs);
      await weight.readBytes(first * inputs, new Uint8Array(bytes.buffer));
      const levels = new Int16Array(bytes);
      if (max > 0 || min < 0) {
        const groupOf = groupNumbers(groups, inputs);
        const isSingle = elementCount(scale) === 1;
        const rowZeros = isSingle
          ? await readZeroPoints(zeroPoint, 0, 1)
          : await readZeroPoints(zeroPoint, first * groupCount, count * groupCount);
        for (let row = 0; row < count; row++) {
          const zeroStart = isSingle ? 0 : row * groupCount;
          for (let input = 0; input < inputs; input++)
            levels[row * inputs + input]! -= rowZeros[zeroStart + groupOf[input]!]!;
        }
      }
      return { levels, scales: await readScaleRows(scale, { first, count, groupCount }) };
    },
  };
}

/** Throws: `tensor_missing` where every scheme has zero points. */
function findZeroPoints(
  module: StoredModule,
  integers: CompressedTensorsConfig['integers'],
): ModuleTensor | undefined {
  const isSymmetric = integers.some(declared => declared.isSymmetric);
  return isSymmetric ? module.find('weight_zero_point') : module.tensor('weight_zero_point');
}

/** One for each scale; zeros where the layer has none. */
async function readZeroPoints(
  tensor: ModuleTensor | undefined,
  from: number,
  count: number,
): Promise<Int8Array> {
  const zeros = new Int8Array(count);
  await tensor?.readBytes(from, new Uint8Array(zeros.buffer));
  return zeros;
}
