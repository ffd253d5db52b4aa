// How near a result is to its bounds.

export interface BoundedValues {
  readonly values: Float64Array;
  /** Of the same length: how far each may be off. */
  readonly bounds: Float64Array;
}

/** The largest difference as a share of its bound; infinite where a number is NaN or the lengths differ. */
export function worstShare(result: Float32Array, { values, bounds }: BoundedValues): number {
  if (result.length !== values.length) return Number.POSITIVE_INFINITY;
  let worst = 0;
  for (const [i, value] of values.entries()) {
    const difference = Math.abs(result[i]! - value);
    if (difference === 0) continue;
    const share = difference / bounds[i]!;
    if (!(share <= worst)) worst = Number.isNaN(share) ? Number.POSITIVE_INFINITY : share;
  }
  return worst;
}
