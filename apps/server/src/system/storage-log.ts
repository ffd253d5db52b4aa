// Logs storage faults once per period: with a full disk every write fails, and a line for each would fill what is left.

import type { FastifyBaseLogger } from 'fastify';

/** Unit: milliseconds. */
const PERIOD_MS = 60_000;

/** @param now A clock; only differences of its values matter. Unit: milliseconds. */
export function createStorageLog(
  log: Pick<FastifyBaseLogger, 'error'>,
  now: () => number,
): (error: unknown, message: string) => void {
  /** By message, so that a second fault is not hidden by the first. */
  const logged = new Map<string, { readonly atMs: number; unloggedCount: number }>();
  return (error, message) => {
    const last = logged.get(message);
    if (last !== undefined && now() - last.atMs < PERIOD_MS) {
      last.unloggedCount++;
      return;
    }
    logged.set(message, { atMs: now(), unloggedCount: 0 });
    const refusedBefore = last === undefined ? 0 : last.unloggedCount;
    log.error({ reason: reasonOf(error), refusedBefore }, `storage fault: ${message}`);
  };
}

/** The words of the driver or the file system, without a stack: this is not a fault of the program. */
function reasonOf(error: unknown): string {
  const { cause } = (error ?? {}) as { readonly cause?: unknown };
  if (cause instanceof Error) return reasonOf(cause);
  return error instanceof Error ? error.message : String(error);
}
