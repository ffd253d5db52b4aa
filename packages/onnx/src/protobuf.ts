// Writer for the protobuf wire format: the five kinds of field that an ONNX file needs, and nothing else.
// It knows no ONNX; `model-proto.ts` holds the field numbers.
// Source: https://protobuf.dev/programming-guides/encoding/

const VARINT = 0;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;
const FIRST_CAPACITY_BYTES = 256;

/** Appends fields of one message. Fields are written in call order; nothing is omitted or defaulted. */
export class ProtoWriter {
  #bytes = new Uint8Array(FIRST_CAPACITY_BYTES);
  #length = 0;

  /** An integer, enum or boolean field. Negative numbers take ten bytes, as int64 does on the wire. */
  integer(field: number, value: number | bigint): void {
    this.#tag(field, VARINT);
    this.#varint(BigInt.asUintN(64, BigInt(value)));
  }

  /** A 32-bit float field. */
  float(field: number, value: number): void {
    this.#tag(field, FIXED32);
    this.#reserve(4);
    new DataView(this.#bytes.buffer).setFloat32(this.#length, value, true);
    this.#length += 4;
  }

  bytes(field: number, value: Uint8Array): void {
    this.#tag(field, LENGTH_DELIMITED);
    this.#varint(BigInt(value.length));
    this.#reserve(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  string(field: number, value: string): void {
    this.bytes(field, Buffer.from(value, 'utf8'));
  }

  /** A message inside this one, written by `write`. */
  message(field: number, write: (writer: ProtoWriter) => void): void {
    const inner = new ProtoWriter();
    write(inner);
    this.bytes(field, inner.finish());
  }

  /** The bytes written so far: a view that the next write may invalidate. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #tag(field: number, wireType: number): void {
    this.#varint(BigInt(field * 8 + wireType));
  }

  /** Seven bits a byte, lowest first; the top bit says that another byte follows. */
  #varint(value: bigint): void {
    this.#reserve(10);
    let rest = value;
    while (rest > 0x7fn) {
      this.#bytes[this.#length++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#bytes[this.#length++] = Number(rest);
  }

  #reserve(extra: number): void {
    if (this.#length + extra <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + extra));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}
