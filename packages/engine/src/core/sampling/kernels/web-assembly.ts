// The part of the WebAssembly API that the kernels use, typed: the type definitions of Node leave it out.

/** Compiled code; opaque here. */
export interface WasmModule {
  readonly __compiled: never;
}

interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

interface WasmApi {
  readonly Memory: new (descriptor: { readonly initial: number }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => WasmModule;
  readonly Instance: new (
    module: WasmModule,
    imports: { readonly env: { readonly memory: WasmMemory } },
  ) => { readonly exports: unknown };
}

/** Null in a process without it (`node --jitless`). */
export const Wasm: WasmApi | null =
  (globalThis as unknown as { readonly WebAssembly?: WasmApi }).WebAssembly ?? null;
