// A setting of V8's garbage collector for a process that serves many callers.

import { setFlagsFromString } from 'node:v8';

/**
 * V8 places new objects in the old generation where objects of the same line of code have lived long before. Under load that goes
 * wrong: short-lived objects in the old generation are found dead only by a collection of the whole heap, and keep alive what they
 * point to. Collections of the young generation then took 8 ms instead of 1 (trajectory logs of 20 clients at once). For the
 * whole process, so only a program that owns its process calls this.
 */
export function disablePretenuring(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
