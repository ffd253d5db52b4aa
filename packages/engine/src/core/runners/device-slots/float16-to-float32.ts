// Float16 numbers as float32, for logits that come to the process in the form that a graph gives them.

/** All float16 numbers by their bits; made when the first are converted. */
let table: Float32Array | undefined;

/** Mutates: `target`, as long as `source`, which has the bits of float16 numbers. */
export function float16ToFloat32(source: Uint16Array, target: Float32Array): void {
  table ??= createTable();
  for (let i = 0; i < source.length; i++) target[i] = table[source[i]!]!;
}

function createTable(): Float32Array {
  const bits = Uint16Array.from({ length: 2 ** 16 }, (_, index) => index);
  return Float32Array.from(new Float16Array(bits.buffer));
}
