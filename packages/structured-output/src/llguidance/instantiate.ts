// One instance of the llguidance module: its exports, typed, and the functions it needs from its host.
// Only llguidance-instance.ts calls the exports.

import { loadLlguidance } from './load-llguidance.ts';
import { Wasm, type WasmMemory, type WasmTable } from './web-assembly.ts';

/** Pointers and sizes are numbers of bytes in `memory`. Source: the C interface of llguidance 1.4. */
export interface LlguidanceExports {
  readonly memory: WasmMemory;
  readonly __wbindgen_externrefs: WasmTable;
  readonly __wbindgen_start: () => void;
  readonly __wbindgen_malloc: (size: number, alignment: number) => number;
  readonly __wbindgen_free: (pointer: number, size: number, alignment: number) => void;
  readonly llg_new_tokenizer: (init: number, errorText: number, errorLength: number) => number;
  readonly llg_constraint_init_set_defaults: (init: number, tokenizer: number) => void;
  readonly llg_new_matcher: (init: number, kind: number, grammar: number) => number;
  readonly llg_clone_matcher: (matcher: number) => number;
  readonly llg_free_matcher: (matcher: number) => void;
  readonly llg_matcher_get_error: (matcher: number) => number;
  readonly llg_matcher_compute_mask_into: (matcher: number, mask: number, byteLength: number) => number;
  readonly llg_matcher_consume_tokens: (matcher: number, tokens: number, count: number) => number;
  readonly llg_matcher_validate_tokens: (matcher: number, tokens: number, count: number) => number;
  readonly llg_matcher_rollback: (matcher: number, count: number) => number;
  readonly llg_matcher_is_accepting: (matcher: number) => number;
  readonly llg_matcher_is_stopped: (matcher: number) => number;
}

export function instantiate(): LlguidanceExports {
  const bindings = {
    __wbg_new_8a6f238a6ece86ea: () => new Error(),
    // The stack of a panic goes nowhere: an empty text.
    __wbg_stack_0ed75d68575b0f3c: (result: number) =>
      new Uint32Array(exports.memory.buffer, result, 2).fill(0),
    // The message of a panic comes before the trap, which is what the caller sees.
    __wbg_error_7534b8e9a36f1ab4: (text: number, length: number) => exports.__wbindgen_free(text, length, 1),
    // Seeds of hash tables. They change no result.
    __wbg_getRandomValues_1c61fac11405ffdc: (at: number, length: number) =>
      crypto.getRandomValues(new Uint8Array(exports.memory.buffer, at, length)),
    __wbg_length_22ac23eaec9d8053: (array: Uint8Array) => array.length,
    __wbg_new_with_length_aa5eaf41d35235e5: (length: number) => new Uint8Array(length >>> 0),
    __wbg_set_169e13b608078b7b: (array: Uint8Array, at: number, length: number) =>
      array.set(new Uint8Array(exports.memory.buffer, at, length)),
    __wbg___wbindgen_throw_dd24417ed36fc46e: (text: number, length: number) => {
      throw new Wasm.RuntimeError(readText(exports.memory, text, length));
    },
    __wbindgen_init_externref_table: () => {
      const table = exports.__wbindgen_externrefs;
      const at = table.grow(4);
      table.set(0, undefined);
      for (const [index, value] of [undefined, null, true, false].entries()) table.set(at + index, value);
    },
    __wbindgen_cast_2241b6af4c4b2941: (text: number, length: number) =>
      readText(exports.memory, text, length),
  };
  const instance = new Wasm.Instance(loadLlguidance(), {
    './llguidance_wasm_bg.js': bindings,
    env: { now: () => performance.now() },
  });
  const exports = instance.exports as unknown as LlguidanceExports;
  exports.__wbindgen_start();
  return exports;
}

function readText(memory: WasmMemory, at: number, length: number): string {
  return new TextDecoder().decode(new Uint8Array(memory.buffer, at, length));
}
