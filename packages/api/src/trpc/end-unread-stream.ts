// Streams over links that cannot carry them. tRPC refuses them after the call and leaves the stream to itself: its generation
// would wait for a reader for ever.

import { isAsyncIterable } from './chunk-stream.ts';
import { ApiError } from './errors.ts';

/** Ends a stream that nobody will read. Throws: `malformed_request`, always. */
export async function endUnreadStream(stream: unknown, path: string): Promise<never> {
  if (isAsyncIterable(stream)) await stream[Symbol.asyncIterator]().return?.();
  throw new ApiError(
    'malformed_request',
    `The answer of ${path} is a stream, which httpLink and httpBatchLink cannot carry; use httpBatchStreamLink.`,
  );
}
