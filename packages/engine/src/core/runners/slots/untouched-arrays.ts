// Large arrays of zeros of which only what is written takes memory. Callers: `slot-store.ts` and `window-rings.ts`.

import { LARGEST_REUSED_BYTES } from '@ortler/onnxruntime';

/** An array type that caches are made of. */
export type ArrayType<Data> = {
  readonly BYTES_PER_ELEMENT: number;
  new (length: number): Data;
  new (buffer: ArrayBuffer, byteOffset: number, length: number): Data;
};

/** Arrays of one buffer begin at lines of the caches. Unit: bytes. */
const LINE_BYTES = 64;

/**
 * Arrays of these lengths. Small ones share buffers, so that each buffer is fresh pages unless all arrays together are not large enough.
 * Throws: a `RangeError` where that much cannot be reserved.
 */
export function allocateUntouched<Data>(Type: ArrayType<Data>, lengths: readonly number[]): Data[] {
  return inGroups(lengths, Type.BYTES_PER_ELEMENT).flatMap(group => {
    if (group.length === 1) return [new Type(group[0]!)];
    const starts: number[] = [];
    let end = 0;
    for (const length of group) {
      starts.push(end);
      end += lineBytes(length, Type.BYTES_PER_ELEMENT);
    }
    const buffer = new ArrayBuffer(end);
    return group.map((length, index) => new Type(buffer, starts[index]!, length));
  });
}

/** Neighbours of more than `LARGEST_REUSED_BYTES` together, unless all are less. */
function inGroups(lengths: readonly number[], elementBytes: number): readonly (readonly number[])[] {
  const groups: number[][] = [];
  let open: number[] = [];
  let bytes = 0;
  for (const length of lengths) {
    open.push(length);
    bytes += lineBytes(length, elementBytes);
    if (bytes <= LARGEST_REUSED_BYTES) continue;
    groups.push(open);
    open = [];
    bytes = 0;
  }
  const last = groups.at(-1);
  if (last === undefined) return [open];
  last.push(...open);
  return groups;
}

function lineBytes(length: number, elementBytes: number): number {
  return Math.ceil((length * elementBytes) / LINE_BYTES) * LINE_BYTES;
}
