// Numbers from a seed, for weights and activations: fast-check draws shapes, and a generator of its own would be slow here.

export class RandomNumbers {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). Mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let x = this.#state;
    x = Math.imul(x ^ (x >>> 15), x | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number in [0, `limit`). */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** Float32 numbers in (-`reach`, `reach`). */
  floats(count: number, reach: number): Float32Array {
    return Float32Array.from({ length: count }, () => (this.next() * 2 - 1) * reach);
  }
}
