// How many digits of a measurement are shown: as many as mean something.

/** Four significant digits. */
export function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
