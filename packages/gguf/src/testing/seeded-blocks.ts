// Tensors of every type from a seed: random codes, and scales that bound the values.

import { blockLayout, type GgufType } from '../values/tensor-types.ts';

/** A float16 of a block: where it is, and what it is for values up to about 1. */
type Half = readonly [at: number, value: number];

const HALVES: Readonly<Record<Exclude<GgufType, 'F32' | 'F16' | 'BF16' | 'MXFP4'>, readonly Half[]>> = {
  Q8_0: [[0, 1 / 128]],
  Q4_0: [[0, -1 / 8]],
  Q4_1: [
    [0, 2 / 15],
    [2, -1],
  ],
  Q5_0: [[0, -1 / 16]],
  Q5_1: [
    [0, 2 / 31],
    [2, -1],
  ],
  Q2_K: [
    [80, 2 / 45],
    [82, 1 / 15],
  ],
  Q3_K: [[108, 1 / 128]],
  Q4_K: [
    [0, 2 / 945],
    [2, 1 / 63],
  ],
  Q5_K: [
    [0, 2 / 1953],
    [2, 1 / 63],
  ],
  Q6_K: [[208, 1 / 4096]],
  IQ4_NL: [[0, 1 / 127]],
  IQ4_XS: [[0, 1 / 4064]],
};

/** Bytes of `elementCount` elements, whole blocks, of magnitudes up to about `scale`. The same arguments give the same bytes. */
export function seededBlocks(type: GgufType, elementCount: number, scale: number, seed: number): Uint8Array {
  const { blockLength, blockBytes } = blockLayout(type);
  const count = elementCount / blockLength;
  const bytes = new Uint8Array(count * blockBytes);
  const view = new DataView(bytes.buffer);
  const next = randomBits(seed);
  if (type === 'F32' || type === 'F16' || type === 'BF16') {
    for (let i = 0; i < count; i++) {
      const value = scale * (next() / 2 ** 31 - 1);
      if (type === 'F32') view.setFloat32(4 * i, value, true);
      else if (type === 'F16') view.setFloat16(2 * i, value, true);
      else view.setUint16(2 * i, brainFloatBits(value), true);
    }
    return bytes;
  }
  for (let i = 0; i < bytes.length; i++) bytes[i] = next() >>> 24;
  for (let at = 0; at < bytes.length; at += blockBytes) {
    const varied = scale * (0.5 + next() / 2 ** 33);
    if (type === 'MXFP4') bytes[at] = 128 + Math.floor(Math.log2(varied / 12));
    else for (const [offset, value] of HALVES[type]) view.setFloat16(at + offset, value * varied, true);
  }
  return bytes;
}

/** Truncated, which every bfloat16 is without a loss. */
function brainFloatBits(value: number): number {
  return new Uint32Array(Float32Array.of(value).buffer)[0]! >>> 16;
}

/** 32 random bits at a call (xorshift, Marsaglia 2003). */
function randomBits(seed: number): () => number {
  let state = Math.imul(seed + 1, 0x9e3779b9) || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}
