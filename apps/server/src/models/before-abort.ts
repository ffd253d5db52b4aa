// Waiting for something no longer than a signal allows. Callers: `loaded-models.ts`, `shared-engine.ts`.

/** The promise's outcome, or the reason of `signal`, which has not fired yet, when that fires first. */
export async function beforeAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
