// Derives the precision of an exported graph from its operators. For layouts whose file names do not tell it.

import type { Precision } from '@ortler/engine/graph-contract';
import { ELEMENT_TYPES, type FoundGraph } from '@ortler/onnx';

/** Bits of the weights: the fewest of its quantised matrices, else the type of its inputs. */
export function precisionOf({ nodes, inputs }: FoundGraph): Precision {
  const bits = nodes
    .filter(({ opType }) => opType === 'MatMulNBits')
    // 4 is the operator's default.
    .map(({ integers }) => integers.get('bits') ?? 4);
  if (bits.length > 0) return Math.min(...bits) <= 4 ? 'q4' : 'q8';
  if (nodes.some(({ opType }) => opType === 'MatMulIntegerToFloat' || opType === 'MatMulInteger'))
    return 'q8';
  return inputs.some(({ onnxType }) => onnxType === ELEMENT_TYPES.float16.onnxType) ? 'f16' : 'f32';
}
