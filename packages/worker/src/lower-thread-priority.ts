// CPU priority of threads whose cost a caller decides: the event loop and the models come first.

import { setPriority } from 'node:os';

/** A tenth of the CPU time beside a thread of normal priority that wants all of it. */
const NICE = 10;

/** Lowers the priority of the calling thread, on Linux. Elsewhere priorities belong to processes, so nothing changes. */
export function lowerThreadPriority(): void {
  if (process.platform !== 'linux') return;
  try {
    // 0 is the calling thread. Source: setpriority(2), "C library/kernel differences".
    setPriority(0, NICE);
  } catch {
    // A sandbox may forbid it; the thread then runs as the others do.
  }
}
