// Types of the WebAssembly API as far as this folder uses it: Node's type definitions lack it.

export interface WasmMemory {
  /** A new buffer whenever the memory has grown; views of the old one are then empty. */
  readonly buffer: ArrayBuffer;
}

export interface WasmTable {
  grow(count: number): number;
  set(index: number, value: unknown): void;
}

export interface WasmModule {
  readonly kind?: 'wasm-module';
}

interface WasmApi {
  readonly Module: new (bytes: Uint8Array) => WasmModule;
  readonly Instance: new (module: WasmModule, imports: object) => { readonly exports: object };
  readonly RuntimeError: new (message: string) => Error;
}

export const Wasm: WasmApi = (globalThis as unknown as { readonly WebAssembly: WasmApi }).WebAssembly;

/** Whether an error means that the instance died: a trap, or no stack left inside it. */
export function isInstanceDeath(error: unknown): boolean {
  return error instanceof Wasm.RuntimeError || error instanceof RangeError;
}
