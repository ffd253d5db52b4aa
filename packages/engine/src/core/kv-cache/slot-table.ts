// Which sequence owns which cache slot. Slots are kept dense: with `count` owners exactly the slots
// [0, count) are in use, and sequences with one pending token (decodes) come before those still prefilling:
//
//     slot   0 ........ decodeCount ........ count ........ slotCount
//            |  decodes  |    prefilling      |     free        |
//
// So all decodes are one contiguous range of the pool, which the runner passes to the model without copying.

import { assertInvariant } from '../../errors.ts';
import type { Sequence } from '../sequence.ts';

/** Makes slot `to` a copy of the first `length` tokens of slot `from`. */
export type CopySlot = (from: number, to: number, length: number) => void;

export class SlotTable {
  readonly slotCount: number;
  readonly #owners: Sequence[] = [];
  readonly #copySlot: CopySlot;

  constructor(slotCount: number, copySlot: CopySlot) {
    this.slotCount = slotCount;
    this.#copySlot = copySlot;
  }

  /** Owners in slot order. */
  get owners(): readonly Sequence[] {
    return this.#owners;
  }

  get freeCount(): number {
    return this.slotCount - this.#owners.length;
  }

  /** Gives the sequence the first free slot. Mutates: `sequence.slot`. */
  occupy(sequence: Sequence): number {
    assertInvariant(this.freeCount > 0, 'a slot is free when a sequence is admitted');
    assertInvariant(sequence.slot === null, 'a sequence holds at most one slot');
    sequence.slot = this.#owners.push(sequence) - 1;
    return sequence.slot;
  }

  /**
   * Frees the sequence's slot and closes the hole: the last decode moves into it, and the last prefilling
   * sequence into the place which that leaves. At most two slot copies, whatever the number of owners.
   * Mutates: `slot` of the released and the moved sequences. Does nothing when the sequence holds no slot.
   */
  release(sequence: Sequence): void {
    let hole = sequence.slot;
    if (hole === null) return;
    sequence.slot = null;
    const decodeEnd = this.#decodeEnd(hole);
    if (hole < decodeEnd - 1) hole = this.#move(decodeEnd - 1, hole);
    const last = this.#owners.length - 1;
    if (hole < last) this.#move(last, hole);
    this.#owners.pop();
  }

  /** First slot after `from` whose owner is still prefilling: the end of the decodes. */
  #decodeEnd(from: number): number {
    let end = from + 1;
    while (end < this.#owners.length && this.#owners[end]!.pendingCount === 1) end++;
    return end;
  }

  /** Returns the slot that became free. */
  #move(from: number, to: number): number {
    const moved = this.#owners[from]!;
    if (moved.computedLength > 0) this.#copySlot(from, to, moved.computedLength);
    this.#owners[to] = moved;
    moved.slot = to;
    return from;
  }
}
