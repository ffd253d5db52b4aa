// The merging of BPE: of all neighbouring pairs that have a merge, the one of the lowest rank becomes one token, the leftmost one
// first, until no pair has a merge.

import type { MergeTable } from './merge-table.ts';

/** Up to here a search of all pairs for each merge is faster than a heap. */
const SEARCH_LENGTH = 48;

/** Mutates: `ids`, whose first `length` entries become the tokens. Returns their number. */
export function mergeWord(ids: Int32Array, length: number, merges: MergeTable): number {
  if (length < 2) return length;
  return length <= SEARCH_LENGTH ? mergeBySearch(ids, length, merges) : mergeByHeap(ids, length, merges);
}

const ranks = new Int32Array(SEARCH_LENGTH);
const NONE = 0x7fffffff;

function mergeBySearch(ids: Int32Array, length: number, merges: MergeTable): number {
  const rankAt = (at: number): number => {
    const rank = merges.rankOf(ids[at]!, ids[at + 1]!);
    return rank === -1 ? NONE : rank;
  };
  let count = length;
  for (let at = 0; at < count - 1; at++) ranks[at] = rankAt(at);
  for (;;) {
    let best = NONE;
    let place = -1;
    for (let at = 0; at < count - 1; at++) {
      if (ranks[at]! < best) {
        best = ranks[at]!;
        place = at;
      }
    }
    if (place === -1) return count;
    ids[place] = merges.mergedOf(best);
    count--;
    ids.copyWithin(place + 1, place + 2, count + 1);
    ranks.copyWithin(place + 1, place + 2, count);
    if (place > 0) ranks[place - 1] = rankAt(place - 1);
    if (place < count - 1) ranks[place] = rankAt(place);
  }
}

/** Ranks are below 2^24 and places below 2^27, so that a pair in the heap is one exact number: the rank, then the place. */
const PLACES = 2 ** 27;

/** For words of any length, up to texts that are never split: the time grows with n log n. */
function mergeByHeap(ids: Int32Array, length: number, merges: MergeTable): number {
  const next = new Int32Array(length);
  const previous = new Int32Array(length);
  const heap = new MinHeap(length);
  const push = (left: number, right: number): void => {
    const rank = merges.rankOf(ids[left]!, ids[right]!);
    if (rank !== -1) heap.push(rank * PLACES + left);
  };
  for (let at = 0; at < length; at++) {
    next[at] = at + 1;
    previous[at] = at - 1;
    if (at + 1 < length) push(at, at + 1);
  }
  while (heap.size > 0) {
    const entry = heap.pop();
    const left = entry % PLACES;
    const rank = (entry - left) / PLACES;
    const right = next[left]!;
    // The pair may have changed since, or its left token may be part of another one.
    if (right === GONE || right === length || merges.rankOf(ids[left]!, ids[right]!) !== rank) continue;
    ids[left] = merges.mergedOf(rank);
    const after = next[right]!;
    next[left] = after;
    next[right] = GONE;
    if (after < length) {
      previous[after] = left;
      push(left, after);
    }
    if (previous[left]! >= 0) push(previous[left]!, left);
  }
  let count = 0;
  for (let at = 0; at < length; at = next[at]!) ids[count++] = ids[at]!;
  return count;
}

const GONE = -1;

class MinHeap {
  size = 0;
  #entries: Float64Array<ArrayBuffer>;

  constructor(capacity: number) {
    this.#entries = new Float64Array(capacity * 2);
  }

  push(entry: number): void {
    if (this.size === this.#entries.length) {
      const larger = new Float64Array(this.size * 2);
      larger.set(this.#entries);
      this.#entries = larger;
    }
    const entries = this.#entries;
    let at = this.size++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (entries[parent]! <= entry) break;
      entries[at] = entries[parent]!;
      at = parent;
    }
    entries[at] = entry;
  }

  pop(): number {
    const entries = this.#entries;
    const least = entries[0]!;
    const entry = entries[--this.size]!;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= this.size) break;
      if (child + 1 < this.size && entries[child + 1]! < entries[child]!) child++;
      if (entries[child]! >= entry) break;
      entries[at] = entries[child]!;
      at = child;
    }
    entries[at] = entry;
    return least;
  }
}
