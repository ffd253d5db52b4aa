// Float16 numbers as float32, for logits that come to the process in the form that a graph gives them.

/** All float16 numbers by their bits; made when the first are converted. */
let table: Float32Array | undefined;

/** Mutates: `target`, as long as `source`, which has the bits of float16 numbers. */
export function float16ToFloat32(source: Uint16Array, target: Float32Array): void {
  table ??= createTable();
  for (let i = 0; i < source.length; i++) target[i] = table[source[i]!]!;
}

function createTable(): Float32Array {
  return Float32Array.from({ length: 2 ** 16 }, (_, bits) => {
    const sign = bits >> 15 === 1 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
    if (exponent === 0) return sign * fraction * 2 ** -24;
    return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  });
}
