// Frees the memory of large bodies and answers at once. V8 counts the memory of buffers, but frees it only when it collects the whole
// heap, and starts such a collection after some tens of megabytes: answers of 4 MB stopped the event loop for 20 ms several times a second.

import { ownsBuffer } from '@ortler/worker';

/** The call takes a microsecond, which smaller buffers are not worth. Unit: bytes. */
const RELEASED_FROM_BYTES = 16_384;

/** Frees the memory of bytes that nobody reads or writes any more. Afterwards they are empty. Others of the same buffer stay. */
export function releaseBytes(bytes: Uint8Array): void {
  if (bytes.byteLength >= RELEASED_FROM_BYTES && ownsBuffer(bytes)) bytes.buffer.transfer(0);
}
