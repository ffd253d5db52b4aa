// A checkpoint with a LoRA adapter merged into it: the same lookup by name, with `W + scale * B * A` where the adapter has a
// pair. Rows are merged while they are read, before quantisation, so memory does not grow with the model.

import { assertInvariant, ModelBuildError } from '../errors.ts';
import type { WeightSource } from '../hugging-face/checkpoint.ts';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import type { LoraAdapter, LowRankPair } from './adapter.ts';

/** Merges both; closing the result closes both. */
export function mergeAdapter(base: WeightSource, adapter: LoraAdapter): WeightSource {
  const used = new Set<string>();
  return {
    has: name => base.has(name),
    tensor(name, shape) {
      const tensor = base.tensor(name, shape);
      const pair = adapter.pairFor(name, shape);
      used.add(name);
      return pair === undefined ? tensor : mergeTensor(tensor, pair);
    },
    get usedElementCount() {
      return base.usedElementCount;
    },
    checkAllUsed(hasNoEffect) {
      base.checkAllUsed(hasNoEffect);
      adapter.checkAllUsed(name => used.has(name));
    },
    async close() {
      await adapter.close();
      await base.close();
    },
  };
}

/** Keeps `A` in memory from the first row to the last: rank times width floats, independent of the number of rows. */
function mergeTensor(base: CheckpointTensor, { rank, scale, a, b }: LowRankPair): CheckpointTensor {
  const { name, shape, quantised } = base;
  const [rowCount, width] = shape as [number, number];
  let factors: Float32Array | undefined;
  return {
    name,
    shape,
    // The merged values are no longer those of the codes.
    ...(quantised === undefined ? {} : { quantised: { type: quantised.type, codes: undefined } }),
    async readFloats(from, target) {
      assertInvariant(from % width === 0 && target.length % width === 0, `${name} is read in whole rows`);
      await base.readFloats(from, target);
      if (factors === undefined) {
        factors = new Float32Array(rank * width);
        await a.readFloats(0, factors);
      }
      const firstRow = from / width;
      const rows = target.length / width;
      const coefficients = new Float32Array(rows * rank);
      await b.readFloats(firstRow * rank, coefficients);
      addProduct(target, coefficients, factors, { rank, width, scale });
      for (let i = 0; i < target.length; i++) {
        if (Number.isFinite(target[i])) continue;
        const message = `tensor ${JSON.stringify(name)}: element ${from + i} is ${target[i]} once ${a.name} and ${b.name} are merged into it`;
        throw new ModelBuildError('tensor_mismatch', message, { tensor: name });
      }
      if (firstRow + rows === rowCount) factors = undefined;
    },
  };
}

/**
 * Adds `scale * b * a`. Sums are in float64 and rounded once, so the order of ranks hardly matters.
 *
 * Shape: `target` `[rows, width]`, `b` `[rows, rank]`, `a` `[rank, width]`. Mutates: `target`.
 */
export function addProduct(
  target: Float32Array,
  b: Float32Array,
  a: Float32Array,
  { rank, width, scale }: { readonly rank: number; readonly width: number; readonly scale: number },
): void {
  const rows = target.length / width;
  const sums = new Float64Array(width);
  for (let row = 0; row < rows; row++) {
    sums.fill(0);
    for (let k = 0; k < rank; k++) {
      const coefficient = b[row * rank + k]!;
      const start = k * width;
      for (let i = 0; i < width; i++) sums[i]! += coefficient * a[start + i]!;
    }
    const start = row * width;
    for (let i = 0; i < width; i++) target[start + i]! += scale * sums[i]!;
  }
}
