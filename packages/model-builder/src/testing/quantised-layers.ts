// Seeded linear layers in the packings of quantised checkpoints, and their values in float32.

import { fillSeeded } from './seeded-weights.ts';
import type { RawTensor } from './write-raw-safetensors.ts';

export interface PackedLayer {
  readonly tensors: readonly RawTensor[];
  /** Shape: `[outputs, inputs]`. */
  readonly values: Float32Array<ArrayBuffer>;
}

export interface LayerToPack {
  /** Name of the layer, without `.weight`. */
  readonly name: string;
  readonly outputs: number;
  readonly inputs: number;
  readonly seed: number;
}

export type PackLayer = (layer: LayerToPack) => PackedLayer;

export interface LevelOptions {
  readonly bits: 4 | 8;
  readonly groupSize: number;
  /** Zero points in the middle. */
  readonly isSymmetric: boolean;
}

export interface GptqOptions extends LevelOptions {
  readonly hasActOrder?: boolean;
}

/** In GPTQ's second format. */
export function packGptq({ hasActOrder = false, ...options }: GptqOptions): PackLayer {
  return layer => {
    const { name, outputs, inputs } = layer;
    const { bits, groupSize } = options;
    const groups = inputs / groupSize;
    // A permutation: 5 has no factor in common with powers of two.
    const groupOf = Int32Array.from({ length: inputs }, (_, input) =>
      Math.floor((hasActOrder ? (input * 5) % inputs : input) / groupSize),
    );
    const { codes, zeros, scales, values } = seededLevels(layer, options, groupOf);
    const packed = packWords(transposed(codes, outputs, inputs), bits, {
      rows: inputs,
      columns: outputs,
      along: 'rows',
    });
    const packedZeros = packWords(transposed(zeros, outputs, groups), bits, {
      rows: groups,
      columns: outputs,
      along: 'columns',
    });
    const halves = Float16Array.from(transposed(scales, outputs, groups));
    return {
      values,
      tensors: [
        raw(`${name}.qweight`, 'I32', [(inputs * bits) / 32, outputs], packed),
        raw(`${name}.qzeros`, 'I32', [groups, (outputs * bits) / 32], packedZeros),
        raw(`${name}.scales`, 'F16', [groups, outputs], halves),
        raw(`${name}.g_idx`, 'I32', [inputs], groupOf),
      ],
    };
  };
}

const AWQ_ORDER = [0, 2, 4, 6, 1, 3, 5, 7] as const;

/** With zero points, for AWQ's GEMM kernel. */
export function packAwq(groupSize: number): PackLayer {
  return layer => {
    const { name, outputs, inputs } = layer;
    const groups = inputs / groupSize;
    const { codes, zeros, scales, values } = seededLevels(layer, { bits: 4, groupSize, isSymmetric: false });
    const pack = (numbers: Uint8Array, rows: number, width: number) => {
      const inRows = transposed(numbers, rows, width);
      const ordered = inRows.map((_, i) => inRows[i - (i % 8) + AWQ_ORDER[i % 8]!]!);
      return packWords(ordered, 4, { rows: width, columns: rows, along: 'columns' });
    };
    return {
      values,
      tensors: [
        raw(`${name}.qweight`, 'I32', [inputs, outputs / 8], pack(codes, outputs, inputs)),
        raw(`${name}.qzeros`, 'I32', [groups, outputs / 8], pack(zeros, outputs, groups)),
        raw(
          `${name}.scales`,
          'F16',
          [groups, outputs],
          Float16Array.from(transposed(scales, outputs, groups)),
        ),
      ],
    };
  };
}

/** In `pack-quantized` of compressed-tensors. */
export function packIntegers(options: LevelOptions): PackLayer {
  return layer => {
    const { name, outputs, inputs } = layer;
    const { bits, groupSize, isSymmetric } = options;
    const groups = inputs / groupSize;
    const { codes, zeros, scales, values } = seededLevels(layer, options);
    const words = packWords(codes, bits, { rows: outputs, columns: inputs, along: 'columns' });
    const packedZeros = packWords(zeros, bits, { rows: outputs, columns: groups, along: 'rows' });
    const zeroPoint = raw(`${name}.weight_zero_point`, 'I32', [(outputs * bits) / 32, groups], packedZeros);
    return {
      values,
      tensors: [
        raw(`${name}.weight_packed`, 'I32', [outputs, (inputs * bits) / 32], words),
        raw(`${name}.weight_scale`, 'F16', [outputs, groups], Float16Array.from(scales)),
        raw(`${name}.weight_shape`, 'I64', [2], BigInt64Array.from([outputs, inputs].map(BigInt))),
        ...(isSymmetric ? [] : [zeroPoint]),
      ],
    };
  };
}

/** In `int-quantized` of compressed-tensors: 8 bits, a scale for each output, and one for activations, which has no effect. */
export const packPlainIntegers: PackLayer = layer => {
  const { name, outputs, inputs } = layer;
  const options = { bits: 8, groupSize: inputs, isSymmetric: true } as const;
  const { codes, scales, values } = seededLevels(layer, options);
  const levels = Int8Array.from(codes, code => code - 128);
  return {
    values,
    tensors: [
      raw(`${name}.weight`, 'I8', [outputs, inputs], levels),
      raw(`${name}.weight_scale`, 'F32', [outputs, 1], scales),
      raw(`${name}.input_scale`, 'F32', [1], new Float32Array([0.25])),
    ],
  };
};

/** In FP8 with a scale for each block of outputs and inputs. */
export function packFloat8(block: number): PackLayer {
  return ({ name, outputs, inputs, seed }) => {
    // Values below 2, without NaN.
    const bytes = seededIntegers(`${name}.codes`, seed, outputs * inputs, 128);
    for (let i = 0; i < bytes.length; i++) bytes[i] = (bytes[i]! & 63) | ((bytes[i]! & 64) << 1);
    const [rows, columns] = [Math.ceil(outputs / block), Math.ceil(inputs / block)];
    const scales = new Float32Array(rows * columns);
    const scale = Math.sqrt(3 / inputs);
    fillSeeded(scales, { seed, name: `${name}.scales`, scale: scale / 2, offset: scale });
    const values = Float32Array.from(bytes, (byte, i) => {
      const [output, input] = [Math.floor(i / inputs), i % inputs];
      const exponent = (byte >> 3) & 15;
      const fraction = byte & 7;
      const magnitude = exponent === 0 ? fraction / 512 : (1 + fraction / 8) * 2 ** (exponent - 7);
      const of = Math.floor(output / block) * columns + Math.floor(input / block);
      return (byte & 128 ? -magnitude : magnitude) * scales[of]!;
    });
    return {
      values,
      tensors: [
        raw(`${name}.weight`, 'F8_E4M3', [outputs, inputs], bytes),
        raw(`${name}.weight_scale_inv`, 'F32', [rows, columns], scales),
      ],
    };
  };
}

interface Levels {
  /** Shape: `[outputs, inputs]`. */
  readonly codes: Uint8Array;
  /** Shape: `[outputs, groups]`. */
  readonly zeros: Uint8Array;
  /** Shape: `[outputs, groups]`. */
  readonly scales: Float32Array<ArrayBuffer>;
  readonly values: Float32Array<ArrayBuffer>;
}

function seededLevels(
  layer: LayerToPack,
  { bits, groupSize, isSymmetric }: LevelOptions,
  order?: Int32Array,
): Levels {
  const { name, outputs, inputs, seed } = layer;
  const groups = inputs / groupSize;
  const middle = 2 ** (bits - 1);
  const codes = seededIntegers(`${name}.codes`, seed, outputs * inputs, 2 ** bits);
  const zeros = isSymmetric
    ? new Uint8Array(outputs * groups).fill(middle)
    : seededIntegers(`${name}.zeros`, seed, outputs * groups, 2 ** bits);
  const scales = seededScales(layer, groups, middle);
  const values = new Float32Array(outputs * inputs);
  for (let output = 0; output < outputs; output++)
    for (let input = 0; input < inputs; input++) {
      const group = output * groups + (order?.[input] ?? Math.floor(input / groupSize));
      values[output * inputs + input] = (codes[output * inputs + input]! - zeros[group]!) * scales[group]!;
    }
  return { codes, zeros, scales, values };
}

function raw(
  name: string,
  type: string,
  shape: readonly number[],
  { buffer, byteOffset, byteLength }: ArrayBufferView,
): RawTensor {
  return { name, type, shape, bytes: new Uint8Array(buffer, byteOffset, byteLength) };
}

/** Numbers in `[0, count)`. */
function seededIntegers(name: string, seed: number, length: number, count: number): Uint8Array {
  const uniform = new Float32Array(length);
  fillSeeded(uniform, { seed, name, scale: 0.5, offset: 0.5 });
  return Uint8Array.from(uniform, value => Math.min(Math.floor(value * count), count - 1));
}

/** Values of float16 around those that keep the magnitude of activations from layer to layer. Shape: `[outputs, groups]`. */
function seededScales(
  { name, outputs, inputs, seed }: LayerToPack,
  groups: number,
  levels: number,
): Float32Array<ArrayBuffer> {
  const scales = new Float32Array(outputs * groups);
  const scale = Math.sqrt(3 / inputs) / levels;
  fillSeeded(scales, { seed, name: `${name}.scales`, scale: scale / 2, offset: scale });
  return Float32Array.from(scales, Math.f16round);
}

/** `[rows, columns]` to `[columns, rows]`. */
function transposed<Values extends Uint8Array | Float32Array>(
  values: Values,
  rows: number,
  columns: number,
): Values {
  const target = values.slice() as Values;
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++)
      target[column * rows + row] = values[row * columns + column]!;
  return target;
}

interface Packing {
  readonly rows: number;
  readonly columns: number;
  /** Which neighbours share a word. */
  readonly along: 'rows' | 'columns';
}

/** The first of the neighbours is in the lowest bits. */
function packWords(values: Uint8Array, bits: number, { rows, columns, along }: Packing): Uint32Array {
  const perWord = 32 / bits;
  const [lines, width] = along === 'rows' ? [rows / perWord, columns] : [rows, columns / perWord];
  const words = new Uint32Array(lines * width);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      const [line, place, at] =
        along === 'rows'
          ? [Math.floor(row / perWord), column, row % perWord]
          : [row, Math.floor(column / perWord), column % perWord];
      words[line * width + place]! |= values[row * columns + column]! << (bits * at);
    }
  return words;
}
