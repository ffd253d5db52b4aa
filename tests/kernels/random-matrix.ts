// Random weight matrices in tiles, with the numbers that they stand for.

import {
  BLOCK_INPUTS,
  blockBytes,
  codeOffset,
  isSuperBlockFormat,
  matrixBytes,
  packBlock,
  packSuperBlock,
  type QuantisedFormat,
  SUPER_BLOCK_INPUTS,
  type SuperBlockFormat,
  superBlockBytes,
  TILE_OUTPUTS,
  tileBytes,
  WEIGHT_FORMATS,
  type WeightFormat,
} from '@ortler/kernels';
import type { Random } from '../support/random.ts';

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
export function randomMatrix({ format, outputs, inputs }: MatrixShape, random: Random): TestMatrix {
  const tiles = new Uint8Array(matrixBytes(format, outputs, inputs));
  const values = new Float64Array(outputs * inputs);
  const target = { outputs, inputs, tiles, values };
  const reach = fill(format, target, random);
  return { format, outputs, inputs, tiles, values, reach };
}

/** Returns the reach. */
function fill(format: WeightFormat, target: Target, random: Random): number {
  if (format === 'f32') return fillFloats(target, random);
  return isSuperBlockFormat(format)
    ? fillSuperBlocks({ ...target, format }, random)
    : fillBlocks({ ...target, format }, random);
}

interface Target {
  readonly outputs: number;
  readonly inputs: number;
  readonly tiles: Uint8Array;
  readonly values: Float64Array;
}

function fillFloats({ outputs, inputs, tiles, values }: Target, random: Random): number {
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
  { format, outputs, inputs, tiles, values }: Target & { readonly format: QuantisedFormat },
  random: Random,
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

function fillSuperBlocks(
  { format, outputs, inputs, tiles, values }: Target & { readonly format: SuperBlockFormat },
  random: Random,
): number {
  const { bits, hasMinimum } = WEIGHT_FORMATS[format];
  const size = superBlockBytes(format);
  const factors = new Float16Array(TILE_OUTPUTS);
  const minimumFactors = new Float16Array(TILE_OUTPUTS);
  let reach = 0;
  for (let tile = 0; tile * TILE_OUTPUTS < outputs; tile++) {
    const start = tile * tileBytes(format, inputs);
    const end = start + tileBytes(format, inputs);
    for (let first = 0; first < inputs; first += SUPER_BLOCK_INPUTS) {
      const codes = Uint8Array.from({ length: TILE_OUTPUTS * SUPER_BLOCK_INPUTS }, () =>
        random.below(2 ** bits),
      );
      const scales = Uint8Array.from({ length: TILE_OUTPUTS * 16 }, () => random.below(256));
      for (let n = 0; n < TILE_OUTPUTS; n++) {
        factors[n] = (0.1 + random.next()) / 2 ** (bits + 8);
        minimumFactors[n] = hasMinimum ? (random.next() - 0.2) / 2 ** 8 : 0;
        const output = tile * TILE_OUTPUTS + n;
        for (let k = 0; k < SUPER_BLOCK_INPUTS; k++) {
          const [code, pair] = [codes[n * SUPER_BLOCK_INPUTS + k]!, 16 * n + 2 * (k >> 5)];
          const signed = (scales[pair + ((k >> 4) & 1)]! << 24) >> 24;
          const scale = factors[n]! * (hasMinimum ? scales[pair]! : signed);
          const minimum = hasMinimum ? minimumFactors[n]! * scales[pair + 1]! : 0;
          reach = Math.max(reach, Math.abs(scale) * 2 ** bits + Math.abs(minimum));
          if (output < outputs && first + k < inputs)
            values[output * inputs + first + k] = scale * (code - codeOffset(format)) - minimum;
        }
      }
      const packed = new Uint8Array(size);
      const halves = {
        factors: new Uint16Array(factors.buffer),
        minimumFactors: new Uint16Array(minimumFactors.buffer),
      };
      packSuperBlock(format, { codes, scales, ...halves }, packed, 0);
      // Of the last super-block there are as many blocks as have inputs.
      const at = start + (first / SUPER_BLOCK_INPUTS) * size;
      tiles.set(packed.subarray(0, Math.min(size, end - at)), at);
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
