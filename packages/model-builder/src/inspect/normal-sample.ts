// Normally distributed weights, for estimates of what a build chooses for weights that have not been read.

const COUNT = 4_096;

let sample: Float32Array | undefined;

/** Always the same values. Source: Box and Muller, over Halton's sequences. */
export function normalSample(): Float32Array {
  sample ??= Float32Array.from({ length: COUNT }, (_, i) => {
    const radius = Math.sqrt(-2 * Math.log(halton(i + 1, 2)));
    return radius * Math.cos(2 * Math.PI * halton(i + 1, 3));
  });
  return sample;
}

/** Element `index`, from 1, of the sequence of a base; between 0 and 1. */
function halton(index: number, base: number): number {
  let [value, fraction] = [0, 1];
  for (let rest = index; rest > 0; rest = Math.floor(rest / base)) {
    fraction /= base;
    value += fraction * (rest % base);
  }
  return value;
}
