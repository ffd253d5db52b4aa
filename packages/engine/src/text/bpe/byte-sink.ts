// Bytes that grow by appending.

export class ByteSink {
  bytes: Uint8Array;
  length = 0;

  constructor(capacity: number) {
    this.bytes = new Uint8Array(Math.max(16, capacity));
  }

  push(byte: number): void {
    if (this.length === this.bytes.length) {
      const larger = new Uint8Array(this.bytes.length * 2);
      larger.set(this.bytes);
      this.bytes = larger;
    }
    this.bytes[this.length++] = byte;
  }

  /** A copy of what was appended. */
  toBytes(): Uint8Array {
    return this.bytes.slice(0, this.length);
  }
}

/** Appends a character's UTF-8. */
export function encodeCodePoint(codePoint: number, sink: ByteSink): void {
  if (codePoint < 0x80) sink.push(codePoint);
  else if (codePoint < 0x800) {
    sink.push(0xc0 | (codePoint >> 6));
    sink.push(0x80 | (codePoint & 0x3f));
  } else if (codePoint < 0x10000) {
    sink.push(0xe0 | (codePoint >> 12));
    sink.push(0x80 | ((codePoint >> 6) & 0x3f));
    sink.push(0x80 | (codePoint & 0x3f));
  } else {
    sink.push(0xf0 | (codePoint >> 18));
    sink.push(0x80 | ((codePoint >> 12) & 0x3f));
    sink.push(0x80 | ((codePoint >> 6) & 0x3f));
    sink.push(0x80 | (codePoint & 0x3f));
  }
}
