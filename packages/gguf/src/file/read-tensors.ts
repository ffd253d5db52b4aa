// Reads the tensor descriptions of a GGUF header and checks them against the file.

import { type TensorType, tensorTypeOf } from '../values/tensor-types.ts';
import type { HeaderReader } from './header-reader.ts';

/** A tensor of a file. */
export interface GgufTensor {
  readonly name: string;
  readonly type: TensorType;
  /** The first one varies fastest: `[columns, rows]` of a matrix. */
  readonly dimensions: readonly number[];
  /** Byte range inside the file. */
  readonly begin: number;
  readonly end: number;
}

/** Length of a name, number of dimensions, type, offset. */
export const SMALLEST_TENSOR_BYTES = 8 + 4 + 4 + 8;

/** Limit of ggml. */
const MAX_DIMENSIONS = 4;

/** By name, in the order of the header; offsets count from `begin` only after `placeTensors`. */
export function readTensorInfos(reader: HeaderReader, tensorCount: number, alignment: number): GgufTensor[] {
  const tensors: GgufTensor[] = [];
  const names = new Set<string>();
  for (let i = 0; i < tensorCount; i++) {
    reader.enter({ name: `tensor ${i + 1} of ${tensorCount}` });
    const name = reader.string();
    reader.enter({ name: `tensor ${JSON.stringify(name)}`, tensor: name });
    if (names.has(name)) throw reader.corrupt('is there twice');
    names.add(name);
    tensors.push(readTensorInfo(reader, name, alignment));
  }
  return tensors;
}

function readTensorInfo(reader: HeaderReader, name: string, alignment: number): GgufTensor {
  const rank = reader.uint32();
  if (rank < 1 || rank > MAX_DIMENSIONS)
    throw reader.corrupt(`has ${rank} dimensions; allowed: 1 to ${MAX_DIMENSIONS}`);
  const dimensions = Array.from({ length: rank }, () => reader.count());
  const elementCount = dimensions.reduce((product, dimension) => product * dimension, 1);
  const id = reader.uint32();
  const type = tensorTypeOf(id);
  if (type === undefined) throw reader.unsupported(`has the type ${id}, which is not known`);
  if (elementCount < 1 || !Number.isSafeInteger(elementCount))
    throw reader.corrupt(`has the dimensions [${dimensions}]`);
  if (dimensions[0]! % type.blockLength !== 0) {
    const fault = `has rows of ${dimensions[0]} elements, which are not whole blocks of ${type.name} (${type.blockLength})`;
    throw reader.corrupt(fault);
  }
  const byteLength = (elementCount / type.blockLength) * type.blockBytes;
  const begin = reader.count();
  if (begin % alignment !== 0)
    throw reader.corrupt(`begins at offset ${begin}, which is not a multiple of ${alignment}`);
  return { name, type, dimensions, begin, end: begin + byteLength };
}

/**
 * The tensors with their places in the file. Throws: `corrupt` for those that overlap or end beyond the file.
 */
export function placeTensors(
  reader: HeaderReader,
  tensors: readonly GgufTensor[],
  { dataStart, size }: { readonly dataStart: number; readonly size: number },
): ReadonlyMap<string, GgufTensor> {
  let free = dataStart;
  const placed = tensors.map(tensor => ({
    ...tensor,
    begin: dataStart + tensor.begin,
    end: dataStart + tensor.end,
  }));
  for (const { name, begin, end } of placed.toSorted((a, b) => a.begin - b.begin)) {
    reader.enter({ name: `tensor ${JSON.stringify(name)}`, tensor: name });
    if (begin < free)
      throw reader.corrupt(`begins at byte ${begin}, inside the tensor before it, which ends at ${free}`);
    if (end > size)
      throw reader.corrupt(`is truncated: it ends at byte ${end}, and the file ends at byte ${size}`);
    free = end;
  }
  return new Map(placed.map(tensor => [tensor.name, tensor]));
}
