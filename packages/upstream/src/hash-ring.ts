// Consistent hashing with bounded loads: the same key goes to the same server while that server has no more than its share of
// the open requests, else to the next on the ring. Source: Mirrokni, Thorup, Zadimoghaddam 2016, arXiv:1608.01350.

import { hash } from 'node:crypto';

/** Points of each server on the ring: enough that shares differ by a few percent. */
const POINTS_PER_SERVER = 128;
/** How far a server may be above the mean of open requests before a key moves on. */
const LOAD_FACTOR = 1.25;

export class HashRing {
  /** By position. */
  readonly #points: readonly { readonly position: number; readonly index: number }[];

  /** @param names Of the servers; their places in the list are what `choose` gives. */
  constructor(names: readonly string[]) {
    this.#points = names
      .flatMap((name, index) =>
        Array.from({ length: POINTS_PER_SERVER }, (_, point) => ({
          position: positionOf(`${name} ${point}`),
          index,
        })),
      )
      .sort((a, b) => a.position - b.position || a.index - b.index);
  }

  /**
   * The server of a key among those that are allowed; undefined when none is.
   * @param loads Open requests of each server.
   */
  choose(key: string, loads: readonly number[], isAllowed: (index: number) => boolean): number | undefined {
    const allowed = loads.map((_, index) => index).filter(isAllowed);
    if (allowed.length <= 1) return allowed[0];
    const total = allowed.reduce((sum, index) => sum + loads[index]!, 0);
    const bound = Math.ceil((LOAD_FACTOR * (total + 1)) / allowed.length);
    const start = this.#firstFrom(positionOf(key));
    for (let step = 0; step < this.#points.length; step++) {
      const { index } = this.#points[(start + step) % this.#points.length]!;
      if (isAllowed(index) && loads[index]! < bound) return index;
    }
    return undefined;
  }

  /** Place of the first point at or after a position. */
  #firstFrom(position: number): number {
    let low = 0;
    let high = this.#points.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#points[middle]!.position < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** 48 bits of a hash, which a number holds exactly. */
function positionOf(text: string): number {
  return hash('sha256', text, 'buffer').readUIntBE(0, 6);
}
