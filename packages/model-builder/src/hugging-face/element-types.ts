// Element types of checkpoints, and their exact conversion to float32: every bfloat16 and float16 value, including
// subnormals, has an exact float32 value.

export const CHECKPOINT_TYPES = ['F32', 'F16', 'BF16'] as const;

export type CheckpointType = (typeof CHECKPOINT_TYPES)[number];

/** Bytes per element, for all types of the safetensors format with whole bytes. */
export const SAFETENSORS_BYTES: ReadonlyMap<string, number> = new Map([
  ...['BOOL', 'U8', 'I8', 'F8_E5M2', 'F8_E4M3', 'F8_E8M0'].map(type => [type, 1] as const),
  ...['I16', 'U16', 'F16', 'BF16'].map(type => [type, 2] as const),
  ...['I32', 'U32', 'F32'].map(type => [type, 4] as const),
  ...['I64', 'U64', 'F64', 'C64'].map(type => [type, 8] as const),
]);

/**
 * The part of `target` that `toFloat32InPlace` reads the raw bytes of `target.length` elements from: all of it for F32, its
 * second half for the 16-bit types. So no second buffer is needed.
 */
export function rawBytesOf(type: CheckpointType, target: Float32Array): Uint8Array {
  const { buffer, byteOffset, byteLength } = target;
  if (type === 'F32') return new Uint8Array(buffer, byteOffset, byteLength);
  return new Uint8Array(buffer, byteOffset + byteLength / 2, byteLength / 2);
}

/**
 * Converts the little-endian elements in `rawBytesOf(type, target)` to float32, front to back.
 *
 * Element `i` of `n` is read at byte `2n + 2i` and written at `4i`, which no later element still needs:
 * `4i + 4 <= 2n + 2(i + 1)` for every `i < n`.
 *
 * Mutates: `target`.
 */
export function toFloat32InPlace(type: CheckpointType, target: Float32Array): void {
  if (type === 'F32') return;
  const { buffer, byteOffset, byteLength, length } = target;
  const halves = new Uint16Array(buffer, byteOffset + byteLength / 2, length);
  const bits = new Uint32Array(buffer, byteOffset, length);
  if (type === 'BF16') {
    for (let i = 0; i < length; i++) bits[i] = halves[i]! << 16;
    return;
  }
  const table = float16Table();
  for (let i = 0; i < length; i++) bits[i] = table[halves[i]!]!;
}

let cachedFloat16Table: Uint32Array | undefined;

/** The float32 bits of each of the 65,536 float16 values. */
function float16Table(): Uint32Array {
  if (cachedFloat16Table !== undefined) return cachedFloat16Table;
  const values = new Float32Array(65_536);
  for (let half = 0; half < values.length; half++) values[half] = float16Value(half);
  cachedFloat16Table = new Uint32Array(values.buffer);
  return cachedFloat16Table;
}

/** Value of float16 bits: sign, 5 bits of exponent with bias 15, 10 bits of fraction. */
function float16Value(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
