// Repeats an attempt with exponential backoff as long as it makes progress, or a few times without any.

import { setTimeout as pause } from 'node:timers/promises';
import type { Tuning } from '../tuning.ts';
import { TransportFailure } from './transport-failure.ts';

export interface RetryOptions {
  readonly tuning: Tuning;
  readonly signal: AbortSignal | undefined;
  /** Something that grows when an attempt got further, such as a number of bytes. Default: nothing does. */
  readonly progress?: () => number;
  /** A pause begins that a person would notice. */
  readonly onWait?: ((message: string) => void) | undefined;
}

/** Pauses that are longer than this are announced. */
const SILENT_PAUSE_MS = 3_000;

/** Throws: `HubError` after the last attempt, any error of an attempt that is no `TransportFailure`, the reason of `signal`. */
export async function retry<T>(
  attempt: () => Promise<T>,
  { tuning, signal, progress = () => 0, onWait }: RetryOptions,
): Promise<T> {
  let failureCount = 0;
  for (;;) {
    signal?.throwIfAborted();
    const before = progress();
    try {
      return await attempt();
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof TransportFailure)) throw error;
      failureCount = progress() > before ? 1 : failureCount + 1;
      const pauseMs = pauseAfter(failureCount, error, tuning);
      if (failureCount >= tuning.tryCount || pauseMs > tuning.longestRetryAfterMs) throw error.toHubError();
      if (pauseMs > SILENT_PAUSE_MS)
        onWait?.(`${error.message} Next attempt in ${Math.ceil(pauseMs / 1000)} s.`);
      await pause(pauseMs, undefined, { signal }).catch(() => signal?.throwIfAborted());
    }
  }
}

function pauseAfter(failureCount: number, { retryAfterMs }: TransportFailure, tuning: Tuning): number {
  if (retryAfterMs !== undefined) return retryAfterMs;
  const longest = Math.min(tuning.longestPauseMs, tuning.firstPauseMs * 2 ** (failureCount - 1));
  // Between half of it and all of it, so that connections that were cut together do not come back together.
  return longest * (0.5 + Math.random() / 2);
}
