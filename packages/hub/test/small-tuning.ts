// Small chunks and short pauses.

export const TUNING = {
  connectionCount: 4,
  chunkBytes: 16 * 1024,
  rangeBytes: 64 * 1024,
  silenceMs: 2_000,
  tryCount: 4,
  firstPauseMs: 1,
  longestPauseMs: 4,
  longestRetryAfterMs: 2_000,
  lockPollMs: 10,
  progressMs: 0,
};
