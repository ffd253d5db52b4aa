// The end of work that a stop waits for, but not for ever: orchestrators kill a server that takes longer than they grant.

/** Resolves when the work has ended, however, or after the time. */
export async function waitAtMost(ms: number, work: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, ms);
  await Promise.race([work.catch(() => undefined), late.promise]);
  clearTimeout(timer);
}
