// Conversion of float32 values to float16, for graphs with float16 activations.

import { ModelBuildError } from '../errors.ts';
import { bytesOf } from './row-chunks.ts';

/** Types of float weights and of scales. */
export type FloatType = 'float32' | 'float16';

/**
 * The smallest normal float16. A GPU may flush subnormals to zero, so scales are never smaller.
 */
export const SMALLEST_NORMAL_16 = 2 ** -14;

/** Bits of the exponent; all set in infinities and NaN. */
const EXPONENT_BITS = 0x7c00;

/**
 * The smallest float16 that is not below `value`, which is not negative: infinity above 65504. A value up to 2 ** -78 counts as
 * 0, because it is lost in the sum below.
 */
export function roundUpToFloat16(value: number): number {
  const nearest = Math.f16round(value);
  if (nearest >= value) return nearest;
  // Half a step more rounds to the next float16. Steps grow with the value, but those of subnormals are 2 ** -24.
  return Math.f16round(Math.max(value * (1 + 2 ** -11), value + 2 ** -25));
}

/**
 * The bytes of values in a type: the memory of `values` for float32, else a copy.
 *
 * Throws: `unsupported` with the name of the weights and the first value out of the range of the type.
 */
export function activationBytes(
  values: Float32Array<ArrayBuffer>,
  type: FloatType,
  name: string,
): Uint8Array {
  if (type === 'float32') return bytesOf(values);
  const rounded = new Float16Array(values);
  const bits = new Uint16Array(rounded.buffer);
  for (let i = 0; i < bits.length; i++) {
    if ((bits[i]! & EXPONENT_BITS) !== EXPONENT_BITS) continue;
    const message = `${name} holds ${values[i]}; float16 reaches 65504, so this model is only built with float32 activations`;
    throw new ModelBuildError('unsupported', message, { tensor: name });
  }
  return new Uint8Array(rounded.buffer);
}
