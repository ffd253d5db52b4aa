// Makes the wait for a promise abortable. Callers: `loaded-models.ts`, `shared-engine.ts`.

/** The outcome of the promise, unless `signal` fires first: then it throws the signal's reason. `signal` must not have fired. */
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
