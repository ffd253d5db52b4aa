// float16 values by their bits.

/** The value of each of the 65,536 float16 bit patterns. */
const VALUES = Float32Array.from(new Float16Array(Uint16Array.from({ length: 65_536 }, (_, i) => i).buffer));

/** The value of float16 bits, which every float32 can represent. */
export function halfValue(bits: number): number {
  return VALUES[bits]!;
}

/** The little-endian float16 at a byte. */
export function readHalf(bytes: Uint8Array, at: number): number {
  return VALUES[bytes[at]! | (bytes[at + 1]! << 8)]!;
}
