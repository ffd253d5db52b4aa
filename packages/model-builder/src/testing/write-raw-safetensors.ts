// Writes safetensors files of tensors whose bytes are there already, of any type.

import { writeFile } from 'node:fs/promises';

export interface RawTensor {
  readonly name: string;
  /** As in the file: `I32`, `F8_E4M3`. */
  readonly type: string;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

/** Writes the tensors in the given order. */
export async function writeRawSafetensors(path: string, tensors: readonly RawTensor[]): Promise<void> {
  const header: Record<string, unknown> = { __metadata__: { format: 'pt' } };
  let end = 0;
  for (const { name, type, shape, bytes } of tensors) {
    header[name] = { dtype: type, shape, data_offsets: [end, end + bytes.length] };
    end += bytes.length;
  }
  const json = Buffer.from(JSON.stringify(header));
  const lengthField = Buffer.alloc(8);
  lengthField.writeBigUInt64LE(BigInt(json.length));
  await writeFile(path, Buffer.concat([lengthField, json, ...tensors.map(({ bytes }) => bytes)]));
}
