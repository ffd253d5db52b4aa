// What the ids of answers end with, for chats and completions.

import type { CallerContext } from '../trpc/trpc.ts';

type Call = Pick<CallerContext, 'headers' | 'requestId' | 'batchIndex'>;

/** The id of a call. The calls of a batch are one request over HTTP, and have one answer each. */
export function callId({ requestId, batchIndex = 0 }: Omit<Call, 'headers'>): string {
  return batchIndex === 0 ? requestId : `${requestId}-${batchIndex}`;
}

/** The name of the request: that of its header, of its body, or the one that the transport made. */
export function answerName(
  { headers, requestId, batchIndex }: Call,
  { request_id: ownName }: { readonly request_id?: string | null | undefined },
): string {
  const sharedName = headers['x-request-id'];
  if (sharedName === undefined && ownName != null) return ownName;
  return callId({ requestId: sharedName ?? requestId, batchIndex });
}
