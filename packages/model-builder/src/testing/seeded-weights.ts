// Seeded weight values, by integer arithmetic that the golden script reproduces in Python bit for bit.

/** FNV-1a over the UTF-8 bytes of `text`. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text, 'utf8')) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

/** The finaliser of MurmurHash3: every bit of the input changes about half of the output's. */
function mix(value: number): number {
  let x = value;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

const GOLDEN_RATIO = 0x9e3779b9;

/**
 * Fills `target` with `offset + scale * u`, u uniform in [-1, 1), each step rounded to float32.
 *
 * Element `i` depends on (seed, name, start + i) only, so tensors can be made in any order and in pieces.
 * Mutates: `target`.
 */
export function fillSeeded(
  target: Float32Array,
  { seed, name, start = 0, scale, offset = 0 }: SeededTensor,
): void {
  const base = (hashText(name) + Math.imul(seed, GOLDEN_RATIO)) >>> 0;
  const roundedScale = Math.fround(scale);
  for (let i = 0; i < target.length; i++) {
    const bits = mix((base + Math.imul(start + i, GOLDEN_RATIO)) >>> 0);
    // 24 bits fit a float32 exactly.
    const uniform = (bits >>> 8) / 0x800000 - 1;
    target[i] = Math.fround(offset) + Math.fround(uniform * roundedScale);
  }
}

export interface SeededTensor {
  readonly seed: number;
  readonly name: string;
  /** Index of the first element inside the tensor, when it is made in pieces. */
  readonly start?: number;
  readonly scale: number;
  readonly offset?: number;
}
