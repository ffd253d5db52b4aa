// Linear layers in AWQ's packing for its GEMM kernel. A word of 32 bits holds the codes of eight consecutive outputs, in an order that
// the kernel unpacks fast.
//
//   qweight [inputs, outputs / 8]   codes
//   qzeros  [groups, outputs / 8]   zero points
//   scales  [groups, outputs]
//
// Source: AutoAWQ, awq/modules/linear/gemm.py and awq/utils/packing_utils.py.

import type { RecentMatrices } from '../hugging-face/recent-matrices.ts';
import { groupNumbers, levelRange, readGroups } from './input-groups.ts';
import { areFloat16, type IntegerMatrix } from './integer-matrix.ts';
import type { AwqConfig } from './quantisation-config.ts';
import {
  checkShape,
  checkType,
  elementCount,
  pairOf,
  readScales,
  readWords,
  type StoredModule,
  WORD_TYPES,
} from './stored-module.ts';

const BITS = 4;
const OUTPUTS_PER_WORD = 8;
/** Where in its word the code of each of eight outputs begins. Unit: bits. */
const SHIFTS = [0, 16, 4, 20, 8, 24, 12, 28] as const;

/** Throws: `tensor_missing`, `tensor_mismatch`, `weights_corrupt`. */
export async function openAwq(
  module: StoredModule,
  { schemes }: AwqConfig,
  recent: RecentMatrices,
): Promise<IntegerMatrix> {
  const qweight = module.tensor('qweight');
  const qzeros = module.tensor('qzeros');
  const scales = module.tensor('scales');
  checkType(qweight, WORD_TYPES);
  const [groupCount, outputs] = pairOf(scales, '[groups, outputs]');
  const [inputs] = pairOf(qweight, '[inputs, outputs / 8]');
  const words = outputs / OUTPUTS_PER_WORD;
  checkShape(qweight, [inputs, words], 'inputs, outputs / 8');
  checkShape(qzeros, [groupCount, words], 'groups, outputs / 8');
  const groups = await readGroups({
    inputs,
    groupCount,
    bits: BITS,
    schemes,
    tensor: qweight,
    order: undefined,
  });
  const readZeros = async () => unpackAll(await readWords(qzeros, 0, elementCount(qzeros)));
  const zeroPoints = await readZeros();
  const hasFloat16Scales = areFloat16(await readScales(scales, 0, elementCount(scales)));
  const load = async () => ({
    words: await readWords(qweight, 0, elementCount(qweight)),
    zeros: await readZeros(),
    scales: await readScales(scales, 0, elementCount(scales)),
  });
  return {
    type: 'AWQ 4-bit',
    shape: [outputs, inputs],
    groups,
    range: levelRange(BITS, zeroPoints),
    hasFloat16Scales,
    async readRows(first, count) {
      const stored = await recent.get(module.name, load);
      const groupOf = groupNumbers(groups, inputs);
      const levels = new Int16Array(count * inputs);
      const rowScales = new Float32Array(count * groupCount);
      for (let row = 0; row < count; row++) {
        const output = first + row;
        const word = Math.floor(output / OUTPUTS_PER_WORD);
        const shift = SHIFTS[output % OUTPUTS_PER_WORD]!;
        for (let group = 0; group < groupCount; group++)
          rowScales[row * groupCount + group] = stored.scales[group * outputs + output]!;
        for (let input = 0; input < inputs; input++) {
          const code = (stored.words[input * words + word]! >>> shift) & 15;
          levels[row * inputs + input] = code - stored.zeros[groupOf[input]! * outputs + output]!;
        }
      }
      return { levels, scales: rowScales };
    },
  };
}

/** The numbers of whole words, in the order of outputs. */
function unpackAll(words: Uint32Array): Uint8Array {
  const values = new Uint8Array(words.length * OUTPUTS_PER_WORD);
  for (let i = 0; i < values.length; i++)
    values[i] = (words[Math.floor(i / OUTPUTS_PER_WORD)]! >>> SHIFTS[i % OUTPUTS_PER_WORD]!) & 15;
  return values;
}
