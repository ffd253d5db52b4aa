// The merges of BPE in flat tables: which two tokens become which one, and which pair goes first. A merge is its rank, the place
// that it has in the file; a hash table finds it by the ids of the pair.

/** Odd factors. Nobody knows them beforehand, so no file can have pairs that all take the same place. */
const [LEFT_FACTOR, RIGHT_FACTOR] = [oddNumber(), oddNumber()];

export class MergeTable {
  #left = new Uint32Array(1024);
  #right = new Uint32Array(1024);
  #merged = new Uint32Array(1024);
  #count = 0;
  /** One more than the rank; 0 for a free place. Collisions take the next places. */
  #places = new Uint32Array(2048);
  #mask = 2047;

  /** A pair that comes again has its last rank. */
  add(left: number, right: number, merged: number): void {
    if (this.#count === this.#left.length) this.#grow();
    this.#left[this.#count] = left;
    this.#right[this.#count] = right;
    this.#merged[this.#count] = merged;
    this.#places[this.#placeOf(left, right)] = ++this.#count;
  }

  /** Rank of the merge of a pair; the lowest rank goes first. -1: the pair has no merge. */
  rankOf(left: number, right: number): number {
    return this.#places[this.#placeOf(left, right)]! - 1;
  }

  /** The token that the merge makes. */
  mergedOf(rank: number): number {
    return this.#merged[rank]!;
  }

  #placeOf(left: number, right: number): number {
    const hash = Math.imul(left, LEFT_FACTOR) ^ Math.imul(right, RIGHT_FACTOR);
    let place = (hash ^ (hash >>> 15)) & this.#mask;
    for (;;) {
      const rank = this.#places[place]! - 1;
      if (rank === -1 || (this.#left[rank] === left && this.#right[rank] === right)) return place;
      place = (place + 1) & this.#mask;
    }
  }

  #grow(): void {
    const size = this.#left.length * 2;
    this.#left = copied(this.#left, size);
    this.#right = copied(this.#right, size);
    this.#merged = copied(this.#merged, size);
    this.#places = new Uint32Array(size * 2);
    this.#mask = size * 2 - 1;
    for (let rank = 0; rank < this.#count; rank++)
      this.#places[this.#placeOf(this.#left[rank]!, this.#right[rank]!)] = rank + 1;
  }
}

function copied(table: Uint32Array<ArrayBuffer>, size: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(size);
  larger.set(table);
  return larger;
}

function oddNumber(): number {
  return Math.floor(Math.random() * 2 ** 31) * 2 + 1;
}
