// The typed client of the server. Calls stream as JSON lines, subscriptions as server-sent events; both carry the key in a
// header, never in an address.

import type { AppRouter } from '@ortler/api';
import { int64Transformer } from '@ortler/api/client';
import {
  createTRPCClient,
  httpBatchStreamLink,
  httpSubscriptionLink,
  splitLink,
  TRPCClientError,
} from '@trpc/client';
import { createTRPCContext } from '@trpc/tanstack-react-query';
import { EventSource } from 'eventsource';
import { fetchReply, fetchWholeNumbers } from './fetch-reply.ts';
import { serverUrl } from './server-url.ts';

export const { TRPCProvider, useTRPC, useTRPCClient } = createTRPCContext<AppRouter>();

export type ApiClient = ReturnType<typeof createApiClient>;

/** Connects with this key. */
export function createApiClient(apiKey: string) {
  const url = serverUrl('trpc');
  const headers = { authorization: `Bearer ${apiKey}` };
  // Calls that share a request could not be aborted alone, and long inputs do not fit into an address.
  const calls = {
    url,
    transformer: int64Transformer,
    maxItems: 1,
    methodOverride: 'POST',
    headers,
    fetch: fetchReply,
  } as const;
  return createTRPCClient<AppRouter>({
    links: [
      splitLink({
        condition: operation => operation.type === 'subscription',
        true: httpSubscriptionLink({
          url,
          transformer: int64Transformer,
          // The browser's own cannot send headers.
          EventSource,
          eventSourceOptions: {
            fetch: (input, init) => fetch(input, { ...init, headers: { ...init.headers, ...headers } }),
          },
        }),
        false: splitLink({
          // Feedback comes as the text that is stored.
          condition: operation => operation.path === 'feedback.query',
          true: httpBatchStreamLink({ ...calls, fetch: fetchWholeNumbers }),
          false: httpBatchStreamLink(calls),
        }),
      }),
    ],
  });
}

/** HTTP status of a failed call; undefined where the server was not reached. */
export function statusOf(error: unknown): number | undefined {
  if (!(error instanceof TRPCClientError)) return undefined;
  const data: unknown = error.data;
  if (typeof data !== 'object' || data === null || !('httpStatus' in data)) return undefined;
  return typeof data.httpStatus === 'number' ? data.httpStatus : undefined;
}

/** What browsers say where a server was not reached or a connection broke, and what tRPC says where a reply ended before its end. */
const AWAY = /fetch|network|load failed|input stream/i;
const CUT_OFF = /^Stream closed|JSON/;

/** What to tell a person about a failed call. */
export function messageOf(error: unknown): string {
  if (statusOf(error) === 401) return 'The server does not know this key.';
  if (!(error instanceof Error)) return String(error);
  if (statusOf(error) !== undefined) return error.message;
  if (AWAY.test(error.message)) return 'The server does not answer.';
  return CUT_OFF.test(error.message) ? 'The connection ended before the answer did.' : error.message;
}
