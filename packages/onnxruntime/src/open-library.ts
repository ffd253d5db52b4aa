// Libraries of drivers, opened once and never closed: a driver may have threads of its own, and koffi closes a library
// when its handle is collected.

import koffi, { type LibraryHandle } from 'koffi';

const OPENED = new Map<string, LibraryHandle | undefined>();

/** The library of the system with this name, or undefined where there is none. */
export function openLibrary(name: string): LibraryHandle | undefined {
  if (!OPENED.has(name)) OPENED.set(name, tryToOpen(name));
  return OPENED.get(name);
}

function tryToOpen(name: string): LibraryHandle | undefined {
  try {
    return koffi.load(name);
  } catch {
    return undefined;
  }
}
