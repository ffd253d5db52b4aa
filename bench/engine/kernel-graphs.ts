// Graphs of one product with random weights: ONNX Runtime's `MatMulNBits`, and the same numbers as a `Product` of the kernels.

import {
  BLOCK_INPUTS,
  blockBytes,
  KERNELS_DOMAIN,
  matrixBytes,
  packBlock,
  TILE_OUTPUTS,
  tileBytes,
  WEIGHT_FORMATS,
} from '@ortler/kernels';
import { type ElementType, encodeModel, GraphRecorder, int, ints } from '@ortler/onnx';

export interface ProductSize {
  readonly inputs: number;
  readonly outputs: number;
}

export type ProductBits = 4 | 8;

export interface ProductPair {
  readonly peer: Uint8Array;
  readonly own: Uint8Array;
  /** Of each: what a product reads. */
  readonly peerBytes: number;
  readonly ownBytes: number;
}

interface Constant {
  readonly name: string;
  readonly type: ElementType;
  readonly dims: readonly number[];
  readonly bytes: Uint8Array;
}

/** Both have blocks of 32 inputs with a scale each, and no minimum. */
export function createProductPair({ inputs, outputs }: ProductSize, bits: ProductBits): ProductPair {
  const format = bits === 4 ? 'q4' : 'q8';
  const codes = randomCodes(inputs * outputs, bits);
  const scales = Float16Array.from(
    { length: (inputs * outputs) / BLOCK_INPUTS },
    (_, i) => 0.01 + (i % 97) / 5000,
  );
  const peerCodes = bits === 8 ? codes : packHalves(codes);
  const tiles = packTiles({ inputs, outputs }, format, codes, scales);
  const peerScales = Float32Array.from(scales);
  const peer = encodeProduct({ inputs, outputs }, bits, 'MatMulNBits', [
    {
      name: 'codes',
      type: 'uint8',
      dims: [outputs, inputs / BLOCK_INPUTS, (BLOCK_INPUTS * bits) / 8],
      bytes: peerCodes,
    },
    { name: 'scales', type: 'float32', dims: [scales.length], bytes: new Uint8Array(peerScales.buffer) },
  ]);
  const own = encodeProduct({ inputs, outputs }, bits, 'Product', [
    { name: 'tiles', type: 'uint8', dims: [tiles.length], bytes: tiles },
  ]);
  return {
    peer,
    own,
    peerBytes: peerCodes.length + peerScales.byteLength,
    ownBytes: tiles.length,
  };
}

function encodeProduct(
  { inputs, outputs }: ProductSize,
  bits: ProductBits,
  opType: 'MatMulNBits' | 'Product',
  constants: readonly Constant[],
): Uint8Array {
  const graph = new GraphRecorder();
  graph.input('x', 'float32', ['rows', inputs]);
  for (const { name, type, dims, bytes } of constants) {
    graph.weightGroup({
      tensors: [{ name, type, dims }],
      async *produce() {
        yield [bytes];
      },
    });
  }
  const isOwn = opType === 'Product';
  graph.op('/product', opType, ['x', ...constants.map(({ name }) => name)], {
    domain: isOwn ? KERNELS_DOMAIN : 'com.microsoft',
    outputs: ['y'],
    attributes: isOwn
      ? {
          inputs: int(inputs),
          outputs: ints([outputs]),
          formats: ints([WEIGHT_FORMATS[bits === 4 ? 'q4' : 'q8'].number]),
        }
      : {
          K: int(inputs),
          N: int(outputs),
          bits: int(bits),
          block_size: int(BLOCK_INPUTS),
          // Activations in 8 bits with a scale for each block, as the kernels have them.
          accuracy_level: int(4),
        },
  });
  graph.output('y', 'float32', ['rows', outputs]);
  const placements = new Map(constants.map(({ name, bytes }) => [name, { kind: 'inline', bytes }] as const));
  return encodeModel(graph, placements, '');
}

function randomCodes(count: number, bits: ProductBits): Uint8Array {
  const codes = new Uint8Array(count);
  let state = 1;
  for (let i = 0; i < count; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    codes[i] = state >>> (32 - bits);
  }
  return codes;
}

/** Two codes in a byte, the first in its low half. */
function packHalves(codes: Uint8Array): Uint8Array {
  return Uint8Array.from({ length: codes.length / 2 }, (_, i) => codes[2 * i]! | (codes[2 * i + 1]! << 4));
}

/** `outputs` are a multiple of 16, `inputs` of 32. */
function packTiles(
  { inputs, outputs }: ProductSize,
  format: 'q4' | 'q8',
  codes: Uint8Array,
  scales: Float16Array,
): Uint8Array {
  const tiles = new Uint8Array(matrixBytes(format, outputs, inputs));
  const halves = new Uint16Array(scales.buffer);
  const blockCount = inputs / BLOCK_INPUTS;
  const blockCodes = new Uint8Array(TILE_OUTPUTS * BLOCK_INPUTS);
  const blockScales = new Uint16Array(TILE_OUTPUTS);
  for (let tile = 0; tile < outputs / TILE_OUTPUTS; tile++) {
    for (let block = 0; block < blockCount; block++) {
      for (let n = 0; n < TILE_OUTPUTS; n++) {
        const index = (tile * TILE_OUTPUTS + n) * blockCount + block;
        blockCodes.set(codes.subarray(index * BLOCK_INPUTS, (index + 1) * BLOCK_INPUTS), n * BLOCK_INPUTS);
        blockScales[n] = halves[index]!;
      }
      const at = tile * tileBytes(format, inputs) + block * blockBytes(format);
      packBlock(format, { codes: blockCodes, scales: blockScales, minimums: blockScales }, tiles, at);
    }
  }
  return tiles;
}
