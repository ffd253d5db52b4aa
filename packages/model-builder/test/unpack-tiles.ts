// Reads weights in the tiles of the CPU kernels back, written from the description of the layout in
// `packages/kernels/c/weights.h` and not from the code that packs them.

import type { AttributeValue, GraphRecorder } from '@ortler/onnx';

interface Format {
  readonly bits: 4 | 5 | 6 | 8 | 32;
  /** Of a block of 16 outputs and 32 inputs. */
  readonly codeBytes: number;
  readonly hasMinimum: boolean;
  /** In front of every eight blocks. */
  readonly factorBytes?: number;
}

/** By the number that graphs carry. */
const FORMATS: readonly Format[] = [
  { bits: 32, codeBytes: 2048, hasMinimum: false },
  { bits: 4, codeBytes: 256, hasMinimum: false },
  { bits: 4, codeBytes: 256, hasMinimum: true },
  { bits: 5, codeBytes: 320, hasMinimum: false },
  { bits: 5, codeBytes: 320, hasMinimum: true },
  { bits: 6, codeBytes: 384, hasMinimum: false },
  { bits: 8, codeBytes: 512, hasMinimum: false },
  { bits: 4, codeBytes: 256, hasMinimum: true, factorBytes: 64 },
  { bits: 5, codeBytes: 320, hasMinimum: true, factorBytes: 64 },
  { bits: 6, codeBytes: 384, hasMinimum: false, factorBytes: 32 },
];

function blockLength({ bits, codeBytes, hasMinimum, factorBytes }: Format): number {
  if (bits === 32) return codeBytes;
  return codeBytes + (hasMinimum && factorBytes === undefined ? 64 : 32);
}

export interface TiledShape {
  /** The number of the format. */
  readonly format: number;
  readonly outputs: number;
  readonly inputs: number;
}

/** Every value of a matrix, also those after the last output and input. Shape: `[tiles * 16, blocks * 32]`. */
export function unpackTiles(
  bytes: Uint8Array,
  { format, outputs, inputs }: TiledShape,
): Float64Array<ArrayBuffer>[] {
  const layout = FORMATS[format]!;
  const [tiles, blocks] = [Math.ceil(outputs / 16), Math.ceil(inputs / 32)];
  const size = blockLength(layout);
  const { factorBytes = 0 } = layout;
  const tileSize = blocks * size + Math.ceil(blocks / 8) * factorBytes;
  if (bytes.length !== tiles * tileSize)
    throw new Error(`${tiles} tiles of ${blocks} blocks are not ${bytes.length} bytes`);
  return Array.from({ length: tiles * 16 }, (_, output) =>
    Float64Array.from({ length: blocks * 32 }, (_, input) => {
      const block = Math.floor(input / 32);
      const tile = Math.floor(output / 16) * tileSize;
      const superBlock = tile + Math.floor(block / 8) * (8 * size + factorBytes);
      const at = superBlock + factorBytes + (block % 8) * size;
      const part = bytes.subarray(at, at + size);
      if (factorBytes === 0) return readValue(part, layout, output % 16, input % 32);
      const factors = bytes.subarray(superBlock, superBlock + factorBytes);
      return readSuperValue(part, factors, layout, output % 16, input % 32);
    }),
  );
}

function readValue(block: Uint8Array, layout: Format, output: number, input: number): number {
  const view = new DataView(block.buffer, block.byteOffset, block.length);
  const { bits, codeBytes, hasMinimum } = layout;
  if (bits === 32) return view.getFloat32(4 * (16 * input + output), true);
  const code = codeOf(block, bits, output, input);
  const scale = view.getFloat16(codeBytes + 2 * output, true);
  if (hasMinimum) return scale * code + view.getFloat16(codeBytes + 32 + 2 * output, true);
  return scale * (code - 2 ** (bits - 1));
}

/** In float32, every product rounded, as the description of K-quants has them. */
function readSuperValue(
  block: Uint8Array,
  factors: Uint8Array,
  { bits, codeBytes }: Format,
  output: number,
  input: number,
): number {
  const half = (index: number) =>
    new DataView(factors.buffer, factors.byteOffset, factors.length).getFloat16(2 * index, true);
  const pair = [block[codeBytes + output]!, block[codeBytes + 16 + output]!] as const;
  const code = codeOf(block, bits, output, input);
  if (bits === 6) {
    const scale = Math.fround(half(output) * ((pair[input < 16 ? 0 : 1] << 24) >> 24));
    return Math.fround(scale * (code - 32));
  }
  const scale = Math.fround(half(output) * pair[0]);
  const minimum = Math.fround(half(16 + output) * pair[1]);
  return Math.fround(Math.fround(scale * code) - minimum);
}

function codeOf(block: Uint8Array, bits: Format['bits'], output: number, input: number): number {
  const quad = Math.floor(input / 4);
  const byte = 4 * output + (input % 4);
  if (bits === 8) return block[64 * quad + byte]!;
  const pair = block[64 * Math.floor(quad / 2) + byte]!;
  const low = quad % 2 === 0 ? pair & 15 : pair >> 4;
  if (bits === 5) return low + 16 * ((block[256 + byte]! >> quad) & 1);
  if (bits === 6) {
    const highs = block[256 + 64 * Math.floor(quad / 4) + byte]!;
    return low + 16 * ((highs >> (2 * (quad % 4))) & 3);
  }
  return low;
}

/** Bytes of every weight that a graph declares. */
export async function weightBytes(graph: GraphRecorder): Promise<Map<string, Uint8Array>> {
  const all = new Map<string, Uint8Array>();
  for (const group of graph.weights) {
    const parts: Uint8Array[][] = group.tensors.map(() => []);
    for await (const part of group.produce())
      for (const [i, bytes] of part.entries()) parts[i]!.push(bytes.slice());
    for (const [i, { name }] of group.tensors.entries()) all.set(name, Buffer.concat(parts[i]!));
  }
  return all;
}

/**
 * The matrices of a `kernels` graph by their names in the checkpoint, as the graph stores them. Shape: `[outputs, inputs]`,
 * flat.
 */
export async function storedMatrices(graph: GraphRecorder): Promise<Map<string, Float64Array<ArrayBuffer>>> {
  const bytes = await weightBytes(graph);
  const matrices = new Map<string, Float64Array<ArrayBuffer>>();
  const add = (name: string, rows: readonly Float64Array[], { outputs, inputs }: TiledShape) => {
    const kept = rows.slice(0, outputs).flatMap(row => [...row.subarray(0, inputs)]);
    matrices.set(name, Float64Array.from(kept));
  };
  for (const { opType, inputs: names, attributes } of graph.nodes) {
    if (opType === 'Embedding') {
      const shape = { format: numberOf(attributes.format), outputs: numberOf(attributes.outputs) };
      const whole = { ...shape, inputs: numberOf(attributes.inputs) };
      add(names[1]!, unpackTiles(bytes.get(names[1]!)!, whole), whole);
    }
    if (opType !== 'Product') continue;
    const [formats, outputs] = [numbersOf(attributes.formats), numbersOf(attributes.outputs)];
    for (const [i, format] of formats.entries()) {
      const name = names[1 + i]!;
      const shape = { format, outputs: outputs[i]!, inputs: numberOf(attributes.inputs) };
      if (attributes.gated === undefined) {
        add(name, unpackTiles(bytes.get(name)!, shape), shape);
        continue;
      }
      // Tiles of gates and ups in turns.
      const half = { ...shape, outputs: shape.outputs / 2 };
      const tiles = 2 * Math.ceil(half.outputs / 16);
      const rows = unpackTiles(bytes.get(name)!, { ...shape, outputs: 16 * tiles });
      for (const [part, kind] of ['gate_proj', 'up_proj'].entries()) {
        const own = rows.filter((_, row) => Math.floor(row / 16) % 2 === part);
        add(name.replace('gate_up_proj', kind), own, half);
      }
    }
  }
  return matrices;
}

function numberOf(attribute: AttributeValue | undefined): number {
  if (attribute?.kind !== 'int') throw new Error('the attribute is not a number');
  return attribute.value;
}

function numbersOf(attribute: AttributeValue | undefined): readonly number[] {
  if (attribute?.kind !== 'ints') throw new Error('the attribute is not a list of numbers');
  return attribute.value;
}
