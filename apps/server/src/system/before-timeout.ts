// Waiting for work, but not for ever: for checks of storage, and for a stop, because orchestrators kill a server that takes longer
// than they grant.

/** The result of `work`; `fallback` where it fails, or takes longer. */
export async function beforeTimeout<Result>(
  timeoutMs: number,
  work: Promise<Result>,
  fallback: Result,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Result>(resolve => {
    timer = setTimeout(resolve, timeoutMs, fallback);
  });
  try {
    return await Promise.race([work.catch(() => fallback), late]);
  } finally {
    clearTimeout(timer);
  }
}
