// Gives up a statement that does not end: a server that is gone without a word keeps no timeout. Caller: the pools that read rows as they
// arrive; for others the driver does it.

/** As the driver words it, which `../storage-error.ts` knows. */
export const TIMED_OUT = 'Query read timeout';

/** Calls `onEnd` after `limitMs`. Returns what ends the limit; the connection of a statement that exceeded it must be closed. */
export function startStatementLimit(limitMs: number, onEnd: (error: Error) => void): () => void {
  const timer = setTimeout(() => onEnd(new Error(TIMED_OUT)), limitMs);
  return () => clearTimeout(timer);
}
