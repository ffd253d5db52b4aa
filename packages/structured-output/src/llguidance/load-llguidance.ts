// Finds and checks the WebAssembly build of llguidance inside the pinned npm package. The struct layouts in
// this folder belong to exactly that build, so any other one is refused.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { Wasm, type WasmModule } from './web-assembly.ts';

const PACKAGE = 'transformers-llguidance';
/** Beside the package's main module. */
const FILE = 'llguidance_wasm-CEWXsDEr.js';
/** SHA-256 of the decoded module of version 0.2.1: llguidance 1.4.0 and three commits. */
const SHA_256 = '214710605a02acfdf55c805a5395a40dc8667eae9c672cfb7afd806e252de443';
const DATA_URL = /"data:application\/wasm;base64,([A-Za-z0-9+/=]+)"/;

let loaded: WasmModule | undefined;

/** The compiled module, one per thread. Throws: when the package is missing or is not the pinned build. */
export function loadLlguidance(): WasmModule {
  loaded ??= new Wasm.Module(decodeModule(readFileSync(findFile(), 'latin1')));
  return loaded;
}

/** The module's bytes out of the package's source text. Throws: when they are not the pinned ones. */
export function decodeModule(source: string): Uint8Array<ArrayBuffer> {
  const encoded = DATA_URL.exec(source)?.[1];
  if (encoded === undefined) throw new Error(`${PACKAGE}: ${FILE} holds no WebAssembly module.`);
  const bytes = new Uint8Array(Buffer.from(encoded, 'base64'));
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found !== SHA_256)
    throw new Error(`${PACKAGE} holds another WebAssembly module than the pinned one: SHA-256 ${found}.`);
  return bytes;
}

// Resolved as an import: the package exports no path for `require`, and not every runtime and package manager has folders of
// `node_modules` to search.
function findFile(): URL {
  const file = new URL(FILE, import.meta.resolve(PACKAGE));
  if (!existsSync(file))
    throw new Error(`The package ${PACKAGE} 0.2.1 is not installed: ${file.pathname} is missing.`);
  return file;
}
