// How GGUF stores the elements of a tensor, as far as the benchmark needs it.

export type GgufType = 'f32' | 'q4_0' | 'q8_0';

interface GgufTypeFacts {
  readonly id: number;
  /** Elements that share a scale. */
  readonly blockLength: number;
  readonly blockBytes: number;
  /** Bytes of whole blocks of a row. */
  readonly encode: (row: Float32Array<ArrayBuffer>) => Uint8Array;
}

const BLOCK = 32;

export const ggufTypes: Readonly<Record<GgufType, GgufTypeFacts>> = {
  f32: { id: 0, blockLength: 1, blockBytes: 4, encode: row => new Uint8Array(row.buffer.slice(0)) },
  q4_0: { id: 2, blockLength: BLOCK, blockBytes: 18, encode: encodeQ4 },
  q8_0: { id: 8, blockLength: BLOCK, blockBytes: 34, encode: encodeQ8 },
};

/** A block is a float16 scale and 16 bytes: byte `i` holds codes `i` (low half) and `i + 16`, each 8 too large. */
function encodeQ4(row: Float32Array<ArrayBuffer>): Uint8Array {
  const bytes = new Uint8Array((row.length / BLOCK) * 18);
  const view = new DataView(bytes.buffer);
  for (let block = 0; block < row.length / BLOCK; block++) {
    const start = block * BLOCK;
    // The value of largest magnitude gets code -8, with its sign in the scale.
    const scale = largest(row, start) / -8;
    const inverse = scale === 0 ? 0 : 1 / scale;
    const at = block * 18;
    view.setFloat16(at, scale, true);
    for (let i = 0; i < 16; i++) {
      const low = Math.min(15, Math.floor(row[start + i]! * inverse + 8.5));
      const high = Math.min(15, Math.floor(row[start + i + 16]! * inverse + 8.5));
      bytes[at + 2 + i] = low | (high << 4);
    }
  }
  return bytes;
}

/** A block is a float16 scale and 32 signed bytes. */
function encodeQ8(row: Float32Array<ArrayBuffer>): Uint8Array {
  const bytes = new Uint8Array((row.length / BLOCK) * 34);
  const view = new DataView(bytes.buffer);
  for (let block = 0; block < row.length / BLOCK; block++) {
    const start = block * BLOCK;
    const scale = Math.abs(largest(row, start)) / 127;
    const inverse = scale === 0 ? 0 : 1 / scale;
    const at = block * 34;
    view.setFloat16(at, scale, true);
    for (let i = 0; i < BLOCK; i++) view.setInt8(at + 2 + i, Math.round(row[start + i]! * inverse));
  }
  return bytes;
}

/** The value of largest magnitude in a block, with its sign. */
function largest(row: Float32Array, start: number): number {
  let found = 0;
  for (let i = start; i < start + BLOCK; i++) if (Math.abs(row[i]!) > Math.abs(found)) found = row[i]!;
  return found;
}
