// Jitter of Retry-After, so that callers who were refused together do not come back together.

/** The pause, lengthened by a random part of itself. Unit: milliseconds. */
export function jittered(pauseMs: number, random: () => number = Math.random): number {
  return pauseMs * (1 + random());
}
