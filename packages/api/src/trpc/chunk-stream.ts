// The output schema of procedures that stream.

import { z } from 'zod';

/** A stream of chunks. The document generator cannot show one; openapi.ts replaces this placeholder. */
export function chunkStream<Chunk>() {
  return z.custom<AsyncIterable<Chunk>>(isAsyncIterable).meta({ override: { type: 'string' } });
}

/** Whether it is a stream. */
export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
