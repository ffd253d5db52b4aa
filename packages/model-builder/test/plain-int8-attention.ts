// Attention over an int8 cache in plain loops and doubles: what is rounded to 8 bits, and how, but no integers. Keys and queries
// are rounded after a Hadamard transform, weights together with the scales of their values.

type Vector = Float64Array<ArrayBuffer>;

/** Tokens whose weights share a scale, and channels in multiples of which heads are stored. */
const GROUP = 16;

/** Attention of one query to the keys and values of all tokens so far. */
export function attendInt8(query: Vector, keys: readonly Vector[], values: readonly Vector[]): Vector {
  const multiplied = rounded(hadamard(query));
  const cached = keys.map(key => rounded(hadamard(key)));
  const scores = cached.map(key => dot(multiplied, key) / Math.sqrt(query.length));
  const largest = Math.max(...scores);
  const weights = scores.map(score => Math.exp(score - largest));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const scales = values.map(scaleOf);
  const scaled = weights.map((weight, token) => weight * scales[token]!);
  const out = new Float64Array(query.length);
  for (let first = 0; first < scaled.length; first += GROUP) {
    const group = rounded(Float64Array.from(scaled.slice(first, first + GROUP)));
    for (const [i, weight] of group.entries()) {
      const scale = scales[first + i]!;
      if (scale === 0) continue;
      const value = rounded(values[first + i]!);
      for (let channel = 0; channel < out.length; channel++)
        out[channel]! += ((weight / total) * value[channel]!) / scale;
    }
  }
  return out;
}

/** With the factor that keeps products as they are, in blocks of the largest power of two that divides the channels. */
function hadamard(head: Vector): Vector {
  const channels = Math.ceil(head.length / GROUP) * GROUP;
  const size = channels & -channels;
  const sign = (i: number, j: number): number => (bitCount(i & j) % 2 === 0 ? 1 : -1);
  return Float64Array.from({ length: channels }, (_, i) => {
    let sum = 0;
    for (let j = 0; j < size; j++) sum += sign(i % size, j) * (head[i - (i % size) + j] ?? 0);
    return sum / Math.sqrt(size);
  });
}

function bitCount(x: number): number {
  let count = 0;
  for (let rest = x; rest > 0; rest >>= 1) count += rest & 1;
  return count;
}

function scaleOf(numbers: Vector): number {
  return Math.max(...numbers.map(Math.abs)) / 127;
}

/** To multiples of a scale, the largest magnitude being 127 of them. */
function rounded(numbers: Vector): Vector {
  const scale = scaleOf(numbers);
  return scale === 0 ? numbers : numbers.map(x => roundHalfToEven(x / scale) * scale);
}

function roundHalfToEven(x: number): number {
  const nearest = Math.round(x);
  return Math.abs(x % 1) === 0.5 && nearest % 2 !== 0 ? nearest - 1 : nearest;
}

function dot(a: Vector, b: Vector): number {
  return a.reduce((sum, x, i) => sum + x * b[i]!, 0);
}
