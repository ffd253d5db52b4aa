// UUIDs of version 7: they sort by creation time, so new rows are added at the end of an index, and feedback that is stored
// at the same time keeps its order. Source: RFC 9562, sections 5.7 and 6.2 (method 1).

/** Bits of the counter that follow the time, for ids of the same millisecond. */
const COUNTER_BITS = 12;
const COUNTER_LIMIT = 2 ** COUNTER_BITS;

/** Makes ids, each of which sorts after the one before. */
export class UuidV7Source {
  readonly #random: (byteCount: number) => Uint8Array;
  #lastMs = 0;
  #counter = 0;

  /** @param random Random bytes of a cryptographic source. */
  constructor(random: (byteCount: number) => Uint8Array) {
    this.#random = random;
  }

  /** @param nowMs Unit: milliseconds since 1970. A clock that goes back, and more ids than a millisecond has room for, count on. */
  next(nowMs: number): string {
    if (nowMs > this.#lastMs) this.#start(nowMs);
    else if (++this.#counter === COUNTER_LIMIT) this.#start(this.#lastMs + 1);
    const bytes = new Uint8Array(16);
    new DataView(bytes.buffer).setBigUint64(0, (BigInt(this.#lastMs) << 16n) | BigInt(this.#counter));
    bytes.set(this.#random(8), 8);
    bytes[6] = 0x70 | bytes[6]!;
    bytes[8] = 0x80 | (bytes[8]! & 0x3f);
    return Buffer.from(bytes)
      .toString('hex')
      .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  }

  /** The counter starts in its lower half, so that at least 2,048 ids fit into a millisecond. */
  #start(ms: number): void {
    const [high = 0, low = 0] = this.#random(2);
    this.#lastMs = ms;
    this.#counter = ((high << 8) | low) % (COUNTER_LIMIT / 2);
  }
}
