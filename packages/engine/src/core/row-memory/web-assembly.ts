// The part of the WebAssembly API that the sampler's kernels and their memory use, typed: the type definitions of Node leave it out.

/** Compiled code; opaque here. */
export interface WasmModule {
  readonly __compiled: never;
}

/** Memory that threads share: it can be sent to them. */
export interface WasmMemory {
  readonly buffer: SharedArrayBuffer;
}

/** Unit: pages. */
interface SharedMemoryDescriptor {
  readonly initial: number;
  readonly maximum: number;
  readonly shared: true;
}

interface WasmApi {
  readonly Memory: new (descriptor: SharedMemoryDescriptor) => WasmMemory;
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => WasmModule;
  readonly Instance: new (
    module: WasmModule,
    imports: { readonly env: { readonly work: WasmMemory; readonly row: WasmMemory } },
  ) => { readonly exports: unknown };
}

const PAGE_BYTES = 65_536;
/** So many that the address after the last byte has 32 bits. */
export const MAX_PAGES = 65_535;

/** Null in a process without it (`node --jitless`). */
export const Wasm: WasmApi | null =
  (globalThis as unknown as { readonly WebAssembly?: WasmApi }).WebAssembly ?? null;

/**
 * Zeros, of which pages that are never written take no memory. Null where WebAssembly is missing or cannot
 * reach that much.
 */
export function allocateMemory(byteLength: number): WasmMemory | null {
  const pageCount = Math.ceil(byteLength / PAGE_BYTES);
  if (Wasm === null || pageCount > MAX_PAGES) return null;
  return new Wasm.Memory({ initial: pageCount, maximum: pageCount, shared: true });
}
