// Which prefixes a slot still holds in layers with a window, whose caches are rings of the last positions.

import type { WindowCache } from '../runners/model-runner.ts';

/**
 * Whether a slot still holds all that the token behind its first `length` tokens attends to, when positions up to `writtenLength` were
 * written: each took the place of the one `capacity` before it. Later tokens attend to no earlier positions.
 */
export function holdsWindow(
  caches: readonly WindowCache[],
  { length, writtenLength }: { readonly length: number; readonly writtenLength: number },
): boolean {
  return caches.every(({ window, capacity }) => {
    const firstNeeded = Math.max(0, length + 1 - window);
    return firstNeeded >= writtenLength - capacity;
  });
}
