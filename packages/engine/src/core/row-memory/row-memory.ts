// Memory for rows of logits that the kernels of all threads read in place. Callers: runners, which have logits written there,
// `../sampling/kernels/wasm-kernels.ts`, and the sampling threads, which get it from the thread of the step loop.

import { allocateMemory, type WasmMemory } from './web-assembly.ts';

/** What another thread is sent for it. */
export type SharedRows = WasmMemory | SharedArrayBuffer;

/** By their buffers: an array of numbers does not know whose memory it is in. */
const MEMORIES = new WeakMap<ArrayBufferLike, WasmMemory>();

/** Zeros in shared memory. Pages that are never written take no memory. */
export function allocateRows(length: number): Float32Array<SharedArrayBuffer> {
  const byteLength = Float32Array.BYTES_PER_ELEMENT * length;
  // Kernels copy rows that WebAssembly does not reach.
  return openRows(allocateMemory(byteLength) ?? new SharedArrayBuffer(byteLength)).subarray(0, length);
}

/** What `openRows` of another thread takes. */
export function shareRows(buffer: SharedArrayBuffer): SharedRows {
  return MEMORIES.get(buffer) ?? buffer;
}

/** The rows that another thread shares, and the memory after them. */
export function openRows(shared: SharedRows): Float32Array<SharedArrayBuffer> {
  if (shared instanceof SharedArrayBuffer) return new Float32Array(shared);
  MEMORIES.set(shared.buffer, shared);
  return new Float32Array(shared.buffer);
}

/** The memory that WebAssembly reaches these rows in. */
export function memoryOfRows({ buffer }: Float32Array): WasmMemory | undefined {
  return MEMORIES.get(buffer);
}
