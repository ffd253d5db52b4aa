// Whether bytes may be given away with their buffer.

/** Whether the bytes fill a buffer of this thread, so that it can be moved to another one or freed. A view of a part of a buffer cannot. */
export function ownsBuffer(bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer>;
export function ownsBuffer(view: ArrayBufferView): view is ArrayBufferView<ArrayBuffer>;
export function ownsBuffer(bytes: ArrayBufferView): boolean {
  return bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength;
}
