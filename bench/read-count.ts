// Numbers among the options of a benchmark.

/** A whole number above 0. Throws: for any other text, with the option's name. */
export function readCount(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new Error(`--${option} takes whole numbers; got "${text}".`);
  return value;
}
