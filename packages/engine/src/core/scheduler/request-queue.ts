// Sequences waiting for a cache slot, in service order. A preempted sequence comes back to the place it had.

import type { Sequence } from '../sequence.ts';
import { findPlace } from './service-order.ts';

export class RequestQueue {
  readonly #items: Sequence[] = [];

  get length(): number {
    return this.#items.length;
  }

  /** Waiting sequences of one share. The queue is bounded, so counting is short. */
  countOf(share: string): number {
    let count = 0;
    for (const { group } of this.#items) if ((group.submitted.share ?? '') === share) count++;
    return count;
  }

  /** Mutates: puts the sequence into its place. New ones of one share go to the end, which moves no other. */
  push(sequence: Sequence): void {
    this.#items.splice(findPlace(this.#items, sequence), 0, sequence);
  }

  /** The next sequence, or undefined when none waits. */
  peek(): Sequence | undefined {
    return this.#items[0];
  }

  /** Shifts the array by one: a short copy, because the queue is bounded. */
  shift(): Sequence | undefined {
    return this.#items.shift();
  }

  /** Removes a sequence. Does nothing when it does not wait. */
  remove(sequence: Sequence): void {
    const index = findPlace(this.#items, sequence);
    if (this.#items[index] === sequence) this.#items.splice(index, 1);
  }
}
