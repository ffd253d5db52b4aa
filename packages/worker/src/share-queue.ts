// A queue that several shares (teams, callers) use together: round robin between shares, first in first out within one. So a
// share that brings a thousand items delays another's by one item per turn.

/** Pure data structure; the caller decides how many items may wait. */
export class ShareQueue<Item> {
  /** Waiting items by share. The order of the map is the order of turns. */
  readonly #shares = new Map<string, Item[]>();
  #length = 0;

  /** Waiting items of all shares. */
  get length(): number {
    return this.#length;
  }

  /** Waiting items of one share. */
  countOf(share: string): number {
    return this.#shares.get(share)?.length ?? 0;
  }

  push(share: string, item: Item): void {
    const items = this.#shares.get(share);
    if (items === undefined) this.#shares.set(share, [item]);
    else items.push(item);
    this.#length++;
  }

  /**
   * Takes the first item of the share whose turn it is; the share goes to the end.
   * @param isReady Shares for which it gives false are passed over and keep their place.
   */
  shift(isReady: (share: string) => boolean = () => true): Item | undefined {
    for (const [share, items] of this.#shares) {
      if (!isReady(share)) continue;
      const item = items.shift()!;
      this.#shares.delete(share);
      if (items.length > 0) this.#shares.set(share, items);
      this.#length--;
      return item;
    }
    return undefined;
  }

  /** Removes a waiting item; false when it does not wait. */
  remove(share: string, item: Item): boolean {
    const items = this.#shares.get(share);
    const index = items?.indexOf(item) ?? -1;
    if (items === undefined || index === -1) return false;
    items.splice(index, 1);
    if (items.length === 0) this.#shares.delete(share);
    this.#length--;
    return true;
  }

  /** Removes and returns all items, in the order of turns. */
  drain(): Item[] {
    const items: Item[] = [];
    for (let item = this.shift(); item !== undefined; item = this.shift()) items.push(item);
    return items;
  }
}
