// Sequences waiting for a cache slot, first come first served. Constant time at both ends.

import type { Sequence } from '../sequence.ts';

/** How many served places may pile up before the array is cut. */
const COMPACT_AT = 64;

export class RequestQueue {
  #items: Sequence[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(sequence: Sequence): void {
    this.#items.push(sequence);
  }

  /** The sequence that is next, or undefined when none waits. */
  peek(): Sequence | undefined {
    return this.#items[this.#head];
  }

  shift(): Sequence | undefined {
    const sequence = this.#items[this.#head];
    if (sequence === undefined) return undefined;
    this.#head++;
    // A served sequence must not live on here with its prompt, at the latest when nobody waits any more.
    const isEmpty = this.#head === this.#items.length;
    if (isEmpty || (this.#head >= COMPACT_AT && this.#head * 2 >= this.#items.length)) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return sequence;
  }

  /** Takes out a sequence that gave up waiting. Linear time: aborts of waiting requests are rare. */
  remove(sequence: Sequence): void {
    const index = this.#items.indexOf(sequence, this.#head);
    if (index >= 0) this.#items.splice(index, 1);
  }
}
