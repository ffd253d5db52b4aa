// Float32 values as float16, for graphs that compute in float16.

import { ModelBuildError } from '../errors.ts';
import { bytesOf } from './row-chunks.ts';

/** Types of weights that are not quantised, and of scales. */
export type FloatType = 'float32' | 'float16';

/**
 * The smallest normal float16. Smaller ones exist, but a GPU may take them for zero, so scales are never smaller.
 */
export const SMALLEST_NORMAL_16 = 2 ** -14;

/** Bits of the exponent; all of them set: infinite, or no number. */
const EXPONENT_BITS = 0x7c00;

/** The smallest float16 that is not below a positive value. */
export function roundUpToFloat16(value: number): number {
  const nearest = Math.f16round(value);
  // Half a step more, or a whole one, is rounded to the next.
  return nearest >= value ? nearest : Math.f16round(value * (1 + 2 ** -11));
}

/**
 * The values as bytes of a type. In float32 they are the memory of `values`, else new.
 *
 * Throws: `unsupported` with the name of the weights and the first value that the type cannot hold.
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
