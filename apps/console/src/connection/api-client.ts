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
import { serverUrl } from './server-url.ts';

export const { TRPCProvider, useTRPC, useTRPCClient } = createTRPCContext<AppRouter>();

export type ApiClient = ReturnType<typeof createApiClient>;

/** Connects with this key. */
export function createApiClient(apiKey: string) {
  const url = serverUrl('trpc');
  const headers = { authorization: `Bearer ${apiKey}` };
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
        // Calls that share a request could not be aborted alone, and long inputs do not fit into an address.
        false: httpBatchStreamLink({
          url,
          transformer: int64Transformer,
          maxItems: 1,
          methodOverride: 'POST',
          headers,
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

/** What to tell a person about a failed call. */
export function messageOf(error: unknown): string {
  if (statusOf(error) === 401) return 'The server does not know this key.';
  if (error instanceof Error) {
    return statusOf(error) === undefined && /fetch|network/i.test(error.message)
      ? 'The server does not answer.'
      : error.message;
  }
  return String(error);
}
