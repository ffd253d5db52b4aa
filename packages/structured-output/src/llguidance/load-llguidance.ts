// Finds and checks the WebAssembly build of llguidance inside the pinned npm package. The struct layouts in
// this folder belong to exactly that build, so any other one is refused.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Wasm, type WasmModule } from './web-assembly.ts';

const PACKAGE = 'transformers-llguidance';
const FILE = 'dist/llguidance_wasm-CEWXsDEr.js';
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

// The package exports no path for `require`, so the folders that Node would search are searched here.
function findFile(): string {
  const folders = createRequire(import.meta.url).resolve.paths(PACKAGE) ?? [];
  const file = folders.map(folder => join(folder, PACKAGE, FILE)).find(path => existsSync(path));
  if (file === undefined) throw new Error(`The package ${PACKAGE} 0.2.1 is not installed: no ${FILE}.`);
  return file;
}
