// A typed client for TypeScript services that call a running Ortler server over tRPC.

import { createTRPCClient, httpBatchStreamLink, type TRPCClient } from '@trpc/client';
import type { AppRouter } from './app-router.ts';
import { int64Transformer } from './trpc/int64-transformer.ts';
import { MAX_BATCH_CALLS } from './trpc/max-batch-calls.ts';

export { int64Transformer, MAX_BATCH_CALLS };
export type OrtlerClient = TRPCClient<AppRouter>;

export interface OrtlerClientOptions {
  /** Address of the server, such as `http://127.0.0.1:8000`; a path before the server's own, as of a proxy, stays. */
  readonly url: string;
  readonly apiKey: string;
  /** Sent with every call. One call alone has more of them in its options: `{ context: { headers } }`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Connects to a server. `chat.complete.mutate(request)` gives a completion, `chat.stream.mutate(request)` an async
 * iterable of chunks; pass `{ signal }` as second argument to abort, `{ context: { headers } }` for headers of the call.
 * 64-bit seeds may be given as bigint.
 */
export function createOrtlerClient({ url, apiKey, headers }: OrtlerClientOptions): OrtlerClient {
  return createTRPCClient<AppRouter>({
    links: [
      httpBatchStreamLink({
        url: `${url.replace(/\/+$/, '')}/trpc`,
        transformer: int64Transformer,
        // Calls that share a request could not be aborted alone.
        maxItems: 1,
        // In a URL, a long text or filter would exceed the limit of request headers.
        methodOverride: 'POST',
        headers: ({ opList: [{ context }] }) => ({
          ...headers,
          ...(context.headers as OrtlerClientOptions['headers']),
          authorization: `Bearer ${apiKey}`,
        }),
      }),
    ],
  });
}
