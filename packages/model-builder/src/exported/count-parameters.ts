// Counts the parameters of an exported graph by the shapes of its weights, for display only. Caller: `check-export.ts`.

import type { FoundGraph } from '@ortler/onnx';

/** TensorProto's float, float16, double and bfloat16. */
const FLOAT_TYPES = new Set([1, 10, 11, 16]);

/** Elements of floating point weights and of the quantised matrices of `MatMulNBits`. At least 1. */
export function countParameters({ nodes, weights }: FoundGraph): number {
  const matrices = new Map<string, number>();
  const scales = new Set<string>();
  for (const { opType, inputs, integers } of nodes) {
    if (opType !== 'MatMulNBits') continue;
    matrices.set(inputs[1]!, (integers.get('K') ?? 0) * (integers.get('N') ?? 0));
    if (inputs[2] !== undefined) scales.add(inputs[2]);
  }
  let count = 0;
  for (const elements of matrices.values()) count += elements;
  for (const { name, onnxType, dims } of weights.values())
    if (FLOAT_TYPES.has(onnxType) && !scales.has(name))
      count += dims.reduce((product, dim) => product * dim, 1);
  return Math.max(1, count);
}
