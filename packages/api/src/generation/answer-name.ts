// What the ids of answers end with, for chats and completions.

import type { CallerContext } from '../trpc/trpc.ts';

/** The name of the request: that of its header, of its body, or the one that the transport made. */
export function answerName(
  { headers, requestId, batchIndex = 0 }: Pick<CallerContext, 'headers' | 'requestId' | 'batchIndex'>,
  { request_id: ownName }: { readonly request_id?: string | null | undefined },
): string {
  const sharedName = headers['x-request-id'];
  if (sharedName === undefined && ownName != null) return ownName;
  const name = sharedName ?? requestId;
  // The calls of a batch are one request over HTTP, and their answers are several.
  return batchIndex === 0 ? name : `${name}-${batchIndex}`;
}
