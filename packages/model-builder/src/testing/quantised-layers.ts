// Seeded linear layers in the packings of quantised checkpoints, and their values in float32.

import { fillSeeded } from './seeded-weights.ts';
import type { RawTensor } from './write-raw-safetensors.ts';

export interface PackedLayer {
  readonly tensors: readonly RawTensor[];
  /** Shape: `[outputs, inputs]`. */
  readonly values: Float32Array<ArrayBuffer>;
}

export interface LayerToPack {
  /** Of the layer, without `.weight`. */
  readonly name: string;
  readonly outputs: number;
  readonly inputs: number;
  readonly seed: number;
}

export type PackLayer = (layer: LayerToPack) => PackedLayer;

export interface GptqOptions {
  readonly bits: 4 | 8;
  readonly groupSize: number;
  /** Zero points in the middle. */
  readonly isSymmetric: boolean;
  readonly hasActOrder?: boolean;
}

/** In GPTQ's second format. */
export function packGptq({ bits, groupSize, isSymmetric, hasActOrder = false }: GptqOptions): PackLayer {
  return layer => {
    const { name, outputs, inputs, seed } = layer;
    const groups = inputs / groupSize;
    const codes = seededIntegers(`${name}.codes`, seed, outputs * inputs, 2 ** bits);
    const middle = 2 ** (bits - 1);
    const zeros = isSymmetric
      ? new Uint8Array(outputs * groups).fill(middle)
      : seededIntegers(`${name}.zeros`, seed, outputs * groups, 2 ** bits);
    const scales = seededScales(layer, groups, middle);
    // A permutation: 5 has no factor in common with powers of two.
    const groupOf = Int32Array.from({ length: inputs }, (_, input) =>
      Math.floor((hasActOrder ? (input * 5) % inputs : input) / groupSize),
    );
    const values = new Float32Array(outputs * inputs);
    for (let output = 0; output < outputs; output++)
      for (let input = 0; input < inputs; input++) {
        const group = output * groups + groupOf[input]!;
        values[output * inputs + input] = (codes[output * inputs + input]! - zeros[group]!) * scales[group]!;
      }
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
): Float32Array {
  const scales = new Float32Array(outputs * groups);
  const scale = Math.sqrt(3 / inputs) / levels;
  fillSeeded(scales, { seed, name: `${name}.scales`, scale: scale / 2, offset: scale });
  return scales.map(Math.f16round);
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
