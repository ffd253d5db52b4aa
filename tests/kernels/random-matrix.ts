// Random weight matrices in tiles, with the numbers that they stand for.

import {
  BLOCK_INPUTS,
  blockBytes,
  codeOffset,
  matrixBytes,
  packBlock,
  TILE_OUTPUTS,
  tileBytes,
  WEIGHT_FORMATS,
  type WeightFormat,
} from '@ortler/kernels';
import type { RandomNumbers } from './random-numbers.ts';

export interface TestMatrix {
  readonly format: WeightFormat;
  readonly outputs: number;
  readonly inputs: number;
  readonly tiles: Uint8Array;
  /** Shape: `[outputs, inputs]`. */
  readonly values: Float64Array;
  /** Largest number that one of its terms has, offset and minimum apart: what roundings of a product are relative to. */
  readonly reach: number;
}

export interface MatrixShape {
  readonly format: WeightFormat;
  readonly outputs: number;
  readonly inputs: number;
}

/** What fills the last tile and the last block is random too, in codes: it must not show. */
export function randomMatrix({ format, outputs, inputs }: MatrixShape, random: RandomNumbers): TestMatrix {
  const tiles = new Uint8Array(matrixBytes(format, outputs, inputs));
  const values = new Float64Array(outputs * inputs);
  const reach =
    format === 'f32'
      ? fillFloats({ outputs, inputs, tiles, values }, random)
      : fillBlocks({ format, outputs, inputs, tiles, values }, random);
  return { format, outputs, inputs, tiles, values, reach };
}

interface Target {
  readonly outputs: number;
  readonly inputs: number;
  readonly tiles: Uint8Array;
  readonly values: Float64Array;
}

function fillFloats({ outputs, inputs, tiles, values }: Target, random: RandomNumbers): number {
  const floats = new Float32Array(tiles.buffer);
  const perTile = tileBytes('f32', inputs) / 4;
  for (let output = 0; output < outputs; output++) {
    const tile = Math.floor(output / TILE_OUTPUTS) * perTile + (output % TILE_OUTPUTS);
    for (let input = 0; input < inputs; input++) {
      const value = Math.fround(random.next() * 2 - 1);
      values[output * inputs + input] = value;
      floats[tile + input * TILE_OUTPUTS] = value;
    }
  }
  return 1;
}

function fillBlocks(
  { format, outputs, inputs, tiles, values }: Target & { readonly format: Exclude<WeightFormat, 'f32'> },
  random: RandomNumbers,
): number {
  const { bits, hasMinimum } = WEIGHT_FORMATS[format];
  const offset = codeOffset(format);
  const scales = new Float16Array(TILE_OUTPUTS);
  const minimums = new Float16Array(TILE_OUTPUTS);
  const halves = (numbers: Float16Array): Uint16Array => new Uint16Array(numbers.buffer);
  let reach = 0;
  for (let tile = 0; tile * TILE_OUTPUTS < outputs; tile++) {
    for (let block = 0; block * BLOCK_INPUTS < inputs; block++) {
      const codes = Uint8Array.from({ length: TILE_OUTPUTS * BLOCK_INPUTS }, () => random.below(2 ** bits));
      for (let n = 0; n < TILE_OUTPUTS; n++) {
        scales[n] = (0.1 + random.next()) / 2 ** bits;
        minimums[n] = hasMinimum ? random.next() - 0.8 : 0;
        reach = Math.max(reach, scales[n]! * 2 ** bits + Math.abs(minimums[n]!));
        const output = tile * TILE_OUTPUTS + n;
        for (let k = 0; k < BLOCK_INPUTS; k++) {
          const input = block * BLOCK_INPUTS + k;
          if (output < outputs && input < inputs)
            values[output * inputs + input] =
              (codes[n * BLOCK_INPUTS + k]! - offset) * scales[n]! + minimums[n]!;
        }
      }
      const at = tile * tileBytes(format, inputs) + block * blockBytes(format);
      packBlock(format, { codes, scales: halves(scales), minimums: halves(minimums) }, tiles, at);
    }
  }
  return reach;
}

/** Tiles of gates and of ups in turns, as a gated product reads them. */
export function interleaveTiles(gates: TestMatrix, ups: TestMatrix): Uint8Array {
  const tiles = new Uint8Array(gates.tiles.length + ups.tiles.length);
  const step = tileBytes(gates.format, gates.inputs);
  for (let at = 0; at < gates.tiles.length; at += step) {
    tiles.set(gates.tiles.subarray(at, at + step), 2 * at);
    tiles.set(ups.tiles.subarray(at, at + step), 2 * at + step);
  }
  return tiles;
}
