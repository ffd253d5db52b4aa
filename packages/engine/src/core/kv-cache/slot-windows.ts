// The bookkeeping of layers with a window, whose caches are rings of the last positions. Before a ring overwrites a piece of positions,
// the piece is saved in a pool, so that another sequence can still go on after a short prefix of a long one. Slots that begin alike
// share pieces. Caller: `slot-cache-manager.ts`.
//
//     tokens of a slot   0 ---------------- lostLength ------------ computed --- reserved
//                          pieces, if saved              in the ring

import { assertInvariant } from '../../errors.ts';
import type { WindowRings } from '../runners/model-runner.ts';
import type { CacheSlot, SavedPiece } from './cache-slot.ts';
import type { SlotPrefixIndex } from './slot-prefix-index.ts';

export class SlotWindows {
  readonly rings: WindowRings;
  readonly #index: SlotPrefixIndex;
  readonly #prefixCaching: boolean;
  /** The last one is taken first, so that entries which were never used take no memory. */
  readonly #free: number[];
  readonly #held = new Set<SavedPiece>();

  constructor(rings: WindowRings, index: SlotPrefixIndex, { prefixCaching }: { prefixCaching: boolean }) {
    const { window, capacity, pieceLength, pieceCount } = rings;
    assertInvariant(window - 1 + 2 * (pieceLength - 1) <= capacity, 'a ring has room for a window of pieces');
    this.rings = rings;
    this.#index = index;
    this.#prefixCaching = prefixCaching;
    this.#free = Array.from({ length: pieceCount }, (_, entry) => pieceCount - 1 - entry);
  }

  /** Pieces of the pool that slots hold. */
  get held(): ReadonlySet<SavedPiece> {
    return this.#held;
  }

  get freeEntries(): readonly number[] {
    return this.#free;
  }

  /**
   * The next step may write the slot up to `end`: saves what that overwrites. A piece that was not computed to its end is lost; rings are
   * longer than that but for windows of a few tokens. Mutates: the slot, and the pool, whose pieces may be evicted.
   */
  reserve(slot: CacheSlot, end: number, clock: number): void {
    const { capacity, pieceLength } = this.rings;
    const lostLength = end - capacity;
    if (lostLength <= slot.lostLength) return;
    if (this.#prefixCaching) {
      let start = Math.ceil(slot.lostLength / pieceLength) * pieceLength;
      for (; start < lostLength && start + pieceLength <= slot.length; start += pieceLength)
        this.#save(slot, start, clock);
    }
    slot.lostLength = lostLength;
  }

  /** The longest of the slot's first `limit` tokens after which the window of the next token is in the ring or in saved pieces. */
  continuableLength(slot: CacheSlot, limit: number): number {
    let length = limit;
    for (;;) {
      const missing = this.#lastMissing(slot, length);
      if (missing === null) return length;
      length = missing;
    }
  }

  /**
   * `to` goes on after the first `length` tokens of `from`, or is `from` itself and is cut there; its ring is a copy of that of `from`.
   * Mutates: the ring of `to` gets its window back, and its pieces are those that end in what is shared.
   */
  share(from: CacheSlot, to: CacheSlot, length: number, clock: number): void {
    to.lostLength = this.#restore(from, to, length, clock);
    for (const piece of [...from.pieces.values()]) {
      const isShared = piece.start + this.rings.pieceLength <= length;
      if (isShared) this.#hold(to, piece);
      else if (to === from) this.#drop(to, piece);
    }
  }

  /** Mutates: the slot holds nothing. */
  empty(slot: CacheSlot): void {
    for (const piece of [...slot.pieces.values()]) this.#drop(slot, piece);
    slot.lostLength = 0;
  }

  /** Loads the pieces of the window after the first `length` tokens that the ring has lost. Returns what is lost then. */
  #restore(from: CacheSlot, to: CacheSlot, length: number, clock: number): number {
    const first = this.#firstNeeded(length);
    const end = Math.min(length, from.lostLength);
    if (first >= end) return Math.min(first, from.lostLength);
    const { pieceLength } = this.rings;
    const firstPiece = first - (first % pieceLength);
    for (let start = firstPiece; start < end; start += pieceLength) {
      const piece = from.pieces.get(start);
      assertInvariant(piece !== undefined, 'a hit has the pieces of its window');
      piece.lastUsed = clock;
      this.rings.load(to.slot, start, piece.entry);
    }
    return firstPiece;
  }

  /** Start of the last piece that the token after the first `length` tokens needs and that is lost; or null. */
  #lastMissing(slot: CacheSlot, length: number): number | null {
    const { pieceLength } = this.rings;
    const first = this.#firstNeeded(length);
    const last = Math.min(length, slot.lostLength) - 1;
    if (last < first) return null;
    for (let start = last - (last % pieceLength); start + pieceLength > first; start -= pieceLength)
      if (!slot.pieces.has(start)) return start;
    return null;
  }

  /** The first position that the token after `length` others attends to. */
  #firstNeeded(length: number): number {
    return Math.max(0, length + 1 - this.rings.window);
  }

  /** Saves positions from `start` on, or shares the piece of a slot with the same tokens, whose keys and values are the same bits. */
  #save(slot: CacheSlot, start: number, clock: number): void {
    if (slot.pieces.has(start)) return;
    const end = start + this.rings.pieceLength;
    const twin = this.#index.slotsSharing(slot, end).find(other => other.pieces.has(start));
    let piece = twin?.pieces.get(start);
    if (piece === undefined) {
      const entry = this.#takeEntry();
      if (entry === undefined) return;
      this.rings.save(slot.slot, start, entry);
      piece = { entry, start, holders: new Set(), lastUsed: 0 };
      this.#held.add(piece);
    } else {
      piece.lastUsed = clock;
    }
    this.#hold(slot, piece);
  }

  #hold(slot: CacheSlot, piece: SavedPiece): void {
    slot.pieces.set(piece.start, piece);
    piece.holders.add(slot);
  }

  #drop(slot: CacheSlot, piece: SavedPiece): void {
    slot.pieces.delete(piece.start);
    piece.holders.delete(slot);
    if (piece.holders.size > 0) return;
    this.#held.delete(piece);
    this.#free.push(piece.entry);
  }

  /**
   * A free entry; undefined in a pool of none. Where all are held, the least recently used piece is evicted. Of those that were never
   * used it is the one furthest from the beginning, because prompts share their beginnings.
   */
  #takeEntry(): number | undefined {
    if (this.#free.length === 0) {
      let next: SavedPiece | null = null;
      for (const piece of this.#held) if (next === null || isEvictedBefore(piece, next)) next = piece;
      for (const holder of [...(next?.holders ?? [])]) this.#drop(holder, next!);
    }
    return this.#free.pop();
  }
}

function isEvictedBefore(a: SavedPiece, b: SavedPiece): boolean {
  return a.lastUsed === b.lastUsed ? a.start > b.start : a.lastUsed < b.lastUsed;
}

/** Violations, in sentences; empty when all invariants hold. */
export function findWindowViolations(windows: SlotWindows, slots: readonly CacheSlot[]): string[] {
  const violations: string[] = [];
  const { pieceCount, pieceLength } = windows.rings;
  const held = [...windows.held].map(({ entry }) => entry);
  const entries = new Set([...held, ...windows.freeEntries]);
  if (held.length + windows.freeEntries.length !== pieceCount || entries.size !== pieceCount)
    violations.push(
      `${held.length} pieces are held and ${windows.freeEntries.length} free of ${pieceCount}.`,
    );
  for (const piece of windows.held) {
    if (piece.holders.size === 0) violations.push(`Piece ${piece.entry} has no holder.`);
    for (const slot of piece.holders)
      if (slot.pieces.get(piece.start) !== piece)
        violations.push(`Slot ${slot.slot} does not know its piece ${piece.entry}.`);
  }
  for (const slot of slots) {
    for (const piece of slot.pieces.values()) {
      if (!windows.held.has(piece) || !piece.holders.has(slot))
        violations.push(`Slot ${slot.slot} has piece ${piece.entry}, which is not its own.`);
      if (piece.start + pieceLength > slot.length)
        violations.push(`Slot ${slot.slot} has a piece of tokens that it does not hold.`);
    }
    if (slot.length > 0 && slot.lostLength > Math.max(0, slot.length + 1 - windows.rings.window))
      violations.push(`Slot ${slot.slot} has lost positions that its next token attends to.`);
  }
  return violations;
}
