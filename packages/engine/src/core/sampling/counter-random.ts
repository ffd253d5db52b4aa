// Counter-based random numbers (Philox4x32-10): a pure function of key and position, without generator state that batching,
// retries or the order of requests could advance.
// Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC11), constants and vectors included.

/** A 64-bit seed as two unsigned 32-bit words. */
export interface CounterKey {
  readonly low: number;
  readonly high: number;
}

const ROUND_COUNT = 10;
const MULTIPLIER_0 = 0xd2511f53;
const MULTIPLIER_1 = 0xcd9e8d57;
/** Key increments per round: the golden ratio and the square root of 3 minus 1, as 32-bit fractions. */
const WEYL_0 = 0x9e3779b9;
const WEYL_1 = 0xbb67ae85;

/** The key of a seed. Seeds are taken modulo 2^64, so the sum of a seed and a choice index never overflows. */
export function counterKey(seed: bigint): CounterKey {
  const bits = BigInt.asUintN(64, seed);
  return { low: Number(bits & 0xffffffffn), high: Number(bits >> 32n) };
}

/** A number in [0, 1) with 53 random bits. `position` is the index of the token that is drawn. */
export function uniformAt(key: CounterKey, position: number): number {
  const [first, second] = philox4x32([position >>> 0, Math.floor(position / 2 ** 32), 0, 0], key);
  return ((first >>> 5) * 2 ** 26 + (second >>> 6)) / 2 ** 53;
}

/** The block cipher itself: four words of counter and two of key to four random words. */
export function philox4x32(
  counter: readonly [number, number, number, number],
  key: CounterKey,
): [number, number, number, number] {
  let [c0, c1, c2, c3] = counter;
  let { low: k0, high: k1 } = key;
  for (let round = 0; round < ROUND_COUNT; round++) {
    const high0 = multiplyHigh(MULTIPLIER_0, c0);
    const low0 = Math.imul(MULTIPLIER_0, c0);
    const high1 = multiplyHigh(MULTIPLIER_1, c2);
    const low1 = Math.imul(MULTIPLIER_1, c2);
    c0 = (high1 ^ c1 ^ k0) >>> 0;
    c1 = low1 >>> 0;
    c2 = (high0 ^ c3 ^ k1) >>> 0;
    c3 = low0 >>> 0;
    k0 = (k0 + WEYL_0) >>> 0;
    k1 = (k1 + WEYL_1) >>> 0;
  }
  return [c0, c1, c2, c3];
}

/** The upper 32 bits of an unsigned 32 x 32 bit product, by 16-bit halves so that no bit is lost. */
function multiplyHigh(a: number, b: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16);
  const middle2 = aLow * bHigh + (middle % 0x10000);
  return (aHigh * bHigh + Math.floor(middle / 0x10000) + Math.floor(middle2 / 0x10000)) >>> 0;
}
