// A request body as a stream of bytes, for procedures that REST calls in the place of those that take the parsed body.

import { z } from 'zod';
import { isAsyncIterable } from './chunk-stream.ts';

/** Only transports in this process can create one; no value parsed from JSON is accepted. */
export interface BytesInput {
  readonly params: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
}

export const bytesInput = z.custom<BytesInput>(
  input => typeof input === 'object' && input !== null && 'body' in input && isAsyncIterable(input.body),
);
