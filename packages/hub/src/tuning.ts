// Sizes and times of downloads. Tests make them small.

export interface Tuning {
  /** Requests at the same time. */
  readonly connectionCount: number;
  /** Bytes that are recorded as whole together. */
  readonly chunkBytes: number;
  /** Maximum number of bytes of one request; a multiple of `chunkBytes`. */
  readonly rangeBytes: number;
  /** A connection without a byte for this long is given up. */
  readonly silenceMs: number;
  /** Attempts without any progress before a download fails. */
  readonly tryCount: number;
  /** Pause after the first failure; it doubles with each further one. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** A Retry-After beyond this is not waited for. */
  readonly longestRetryAfterMs: number;
  /** Between two attempts to get a lock. */
  readonly lockPollMs: number;
  /** Between two reports of progress. */
  readonly progressMs: number;
}

const MEBIBYTE = 1024 * 1024;

export const DEFAULT_TUNING: Tuning = {
  connectionCount: 8,
  chunkBytes: 8 * MEBIBYTE,
  rangeBytes: 64 * MEBIBYTE,
  silenceMs: 30_000,
  tryCount: 6,
  firstPauseMs: 500,
  longestPauseMs: 20_000,
  longestRetryAfterMs: 5 * 60_000,
  lockPollMs: 250,
  progressMs: 200,
};
