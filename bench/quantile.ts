// A measurement by its place among the others.

/** The value that a share of `values`, which must not be empty, does not exceed: 0 the least, 1 the largest. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(share * (sorted.length - 1))]!;
}
