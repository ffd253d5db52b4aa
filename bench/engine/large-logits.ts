// Rows of logits over the vocabulary of Qwen2.5 without a model, for benchmarks of what comes after it.

export const LARGE_VOCAB_SIZE = 151_936;

/** `peaked`: a bell curve with a few tokens far above it, as a model's. `flat`: the bell curve alone. */
export type LogitsShape = 'peaked' | 'flat';

/** Shape: `[rowCount, LARGE_VOCAB_SIZE]`; every row is another. */
export function createLargeLogits(shape: LogitsShape, rowCount: number): Float32Array {
  let state = 1;
  const uniform = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const logits = new Float32Array(rowCount * LARGE_VOCAB_SIZE);
  for (let index = 0; index < logits.length; index++)
    logits[index] = 2.8 * (uniform() + uniform() + uniform() + uniform() + uniform() + uniform() - 3);
  if (shape === 'flat') return logits;
  for (let row = 0; row < rowCount; row++) {
    const start = row * LARGE_VOCAB_SIZE;
    for (let i = 0; i < 20; i++) logits[start + ((i * 7001 + row * 13) % LARGE_VOCAB_SIZE)]! += 10 + i / 2;
  }
  return logits;
}
