// Linear layers in GPTQ's packing. Words of 32 bits hold codes of consecutive inputs, the first one in the lowest bits.
//
//   qweight [inputs * bits / 32, outputs]   codes
//   qzeros  [groups, outputs * bits / 32]   zero points of consecutive outputs; in version 1 less one
//   scales  [groups, outputs]
//   g_idx   [inputs]                        group of each input; may be absent without activation order
//
// Source: GPTQModel, gptqmodel/nn_modules/qlinear/__init__.py and utils/model.py (`convert_gptq_v1_to_v2_format_module`).

import type { RecentMatrices } from '../hugging-face/recent-matrices.ts';
import { groupNumbers, levelRange, readGroups } from './input-groups.ts';
import { areFloat16, type IntegerMatrix } from './integer-matrix.ts';
import type { GptqConfig } from './quantisation-config.ts';
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

/** Throws: `tensor_missing`, `tensor_mismatch`, `unsupported`, `weights_corrupt`. */
export async function openGptq(
  module: StoredModule,
  { isVersion1, schemes }: GptqConfig,
  recent: RecentMatrices,
): Promise<IntegerMatrix> {
  const qweight = module.tensor('qweight');
  const qzeros = module.tensor('qzeros');
  const scales = module.tensor('scales');
  const order = module.find('g_idx');
  checkType(qweight, WORD_TYPES);
  const [groupCount, outputs] = pairOf(scales, '[groups, outputs]');
  const bits = bitsOf(qzeros, groupCount, outputs);
  const codesPerWord = WORD_BITS / bits;
  const inputs = pairOf(qweight, '[packed inputs, outputs]')[0] * codesPerWord;
  checkShape(qweight, [inputs / codesPerWord, outputs], `inputs * ${bits} / 32, outputs`);
  const groups = await readGroups({ inputs, groupCount, bits, schemes, tensor: qweight, order });
  const zeros = await readZeroPoints(qzeros, { outputs, bits, isVersion1 });
  const hasFloat16Scales = areFloat16(await readScales(scales, 0, elementCount(scales)));
  const load = async () => ({
    words: await readWords(qweight, 0, elementCount(qweight)),
    zeros: await readZeroPoints(qzeros, { outputs, bits, isVersion1 }),
    scales: await readScales(scales, 0, elementCount(scales)),
  });
  return {
    type: `GPTQ ${bits}-bit${groups.kind === 'ordered' ? ' with act-order' : ''}`,
    shape: [outputs, inputs],
    groups,
    range: levelRange(bits, zeros),
    hasFloat16Scales,
    async readRows(first, count) {
      const stored = await recent.get(module.name, load);
      const rows = {
        levels: new Int16Array(count * inputs),
        scales: new Float32Array(count * groupCount),
      };
      const groupOf = groupNumbers(groups, inputs);
      const mask = 2 ** bits - 1;
      for (let row = 0; row < count; row++) {
        const output = first + row;
        for (let group = 0; group < groupCount; group++)
          rows.scales[row * groupCount + group] = stored.scales[group * outputs + output]!;
        for (let line = 0; line < inputs / codesPerWord; line++) {
          let word = stored.words[line * outputs + output]!;
          for (let input = line * codesPerWord; input < (line + 1) * codesPerWord; input++) {
            const zero = stored.zeros[groupOf[input]! * outputs + output]!;
            rows.levels[row * inputs + input] = (word & mask) - zero;
            word >>>= bits;
          }
        }
      }
      return rows;
    },
  };
}

/** Zero points have one number for each scale, so their shape says how many bits codes have. */
function bitsOf(qzeros: ModuleTensor, groupCount: number, outputs: number): 4 | 8 {
  for (const bits of [4, 8] as const)
    if (qzeros.shape.length === 2 && qzeros.shape[1] === Math.ceil((outputs * bits) / WORD_BITS)) {
      checkShape(qzeros, [groupCount, qzeros.shape[1]], `groups, outputs * ${bits} / 32`);
      return bits;
    }
  const bits = ((qzeros.shape[1] ?? 0) * WORD_BITS) / outputs;
  if (bits === 2 || bits === 3) {
    const message = `holds zero points of ${bits} bits; GPTQ is read with 4 and 8 bits`;
    throw qzeros.fault('unsupported', message);
  }
  const meaning = `groups, outputs * bits / 32, with ${groupCount} groups, ${outputs} outputs and 4 or 8 bits`;
  throw qzeros.fault('tensor_mismatch', `has shape [${qzeros.shape}], not [${meaning}]`);
}

interface ZeroPointsOptions {
  readonly outputs: number;
  readonly bits: 4 | 8;
  readonly isVersion1: boolean;
}

/**
 * Shape: `[groups, outputs]`. Version 1 subtracts one from each whole word, so a zero point of 0 borrows from the next one; adding to the
 * whole word undoes that. Older programs wrote all bits from there on instead, and lost the zero points that follow.
 *
 * Throws: `weights_corrupt` for such words.
 */
async function readZeroPoints(
  qzeros: ModuleTensor,
  { outputs, bits, isVersion1 }: ZeroPointsOptions,
): Promise<Uint8Array> {
  const words = await readWords(qzeros, 0, elementCount(qzeros));
  const perWord = WORD_BITS / bits;
  const mask = 2 ** bits - 1;
  const wordsPerGroup = Math.ceil(outputs / perWord);
  const zeros = new Uint8Array((words.length / wordsPerGroup) * outputs);
  const ones = bits === 4 ? 0x11111111 : 0x01010101;
  for (let i = 0; i < words.length; i++) {
    if (isVersion1 && words[i]! >>> (WORD_BITS - 2 * bits) === 2 ** (2 * bits) - 1) {
      const message = `word ${i} has lost zero points: a zero point of 0 was packed in GPTQ's first format, which cannot hold it; quantise again with checkpoint_format "gptq_v2", or symmetrically`;
      throw qzeros.fault('weights_corrupt', message);
    }
    const word = isVersion1 ? (words[i]! + ones) >>> 0 : words[i]!;
    const group = Math.floor(i / wordsPerGroup);
    const first = (i % wordsPerGroup) * perWord;
    for (let j = 0; j < perWord && first + j < outputs; j++)
      zeros[group * outputs + first + j] = (word >>> (j * bits)) & mask;
  }
  return zeros;
}
