// What the log says of a request that failed at another server. Its callers get no addresses; the operator does, without what was
// sent to the server, which holds a key.

import { UpstreamError } from '@ortler/upstream';

/** The words of the client, and what the operating system said; undefined where no server was the cause. */
export function describeUpstreamFault(error: unknown): string | undefined {
  const fault = causesOf(error).find(cause => cause instanceof UpstreamError);
  if (fault === undefined) return undefined;
  const { code } = (fault.cause ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' ? `${fault.message} (${code})` : fault.message;
}

/** The error, its cause, the cause of that, and so on. */
function causesOf(error: unknown): readonly Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}
