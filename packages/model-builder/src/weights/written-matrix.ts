// The error of a matrix as it was written: its tiles are decoded again and compared with the weights of the checkpoint.

import {
  BLOCK_INPUTS,
  blockBytes,
  codeOffset,
  isSuperBlockFormat,
  type QuantisedFormat,
  SUPER_BLOCK_INPUTS,
  type SuperBlockFormat,
  superBlockBytes,
  TILE_OUTPUTS,
  unpackBlock,
  unpackSuperBlock,
  type WeightFormat,
} from '@ortler/kernels';

/** Facts of a matrix of a build. */
export interface WrittenMatrix {
  readonly name: string;
  readonly format: WeightFormat;
  /** Types of its tensors in the file; empty where they are floats. */
  readonly fileTypes: readonly string[];
  /** Weights of the checkpoint in it. */
  readonly weightCount: number;
  readonly bytes: number;
  /** Root mean square of the errors, relative to that of the weights: 0 is exact. */
  readonly relativeError: number;
}

/** Sums the errors of the tiles of a matrix. */
export class MatrixError {
  readonly #format: WeightFormat;
  readonly #scales = new Float16Array(TILE_OUTPUTS);
  readonly #minimums = new Float16Array(TILE_OUTPUTS);
  readonly #block = {
    codes: new Uint8Array(TILE_OUTPUTS * BLOCK_INPUTS),
    scales: new Uint16Array(this.#scales.buffer),
    minimums: new Uint16Array(this.#minimums.buffer),
  };
  readonly #superBlock = {
    codes: new Uint8Array(TILE_OUTPUTS * SUPER_BLOCK_INPUTS),
    scales: new Uint8Array(TILE_OUTPUTS * 16),
    factors: new Uint16Array(this.#scales.buffer),
    minimumFactors: new Uint16Array(this.#minimums.buffer),
  };
  #squares = 0;
  #errors = 0;

  constructor(format: WeightFormat) {
    this.#format = format;
  }

  get relative(): number {
    return this.#squares === 0 ? 0 : Math.sqrt(this.#errors / this.#squares);
  }

  /** `weights`, in whole blocks `[16, width]`, are what the tile at byte `at` was made from. */
  add(weights: Float32Array, tiles: Uint8Array<ArrayBuffer>, at: number): void {
    if (this.#format === 'f32') this.#addFloats(weights, tiles, at);
    else if (isSuperBlockFormat(this.#format)) this.#addSuperBlocks(this.#format, weights, tiles, at);
    else this.#addBlocks(this.#format, weights, tiles, at);
  }

  #addFloats(weights: Float32Array, tiles: Uint8Array<ArrayBuffer>, at: number): void {
    const width = weights.length / TILE_OUTPUTS;
    const tile = new Float32Array(tiles.buffer, tiles.byteOffset + at, weights.length);
    for (let output = 0; output < TILE_OUTPUTS; output++)
      for (let input = 0; input < width; input++)
        this.#compare(weights[output * width + input]!, tile[input * TILE_OUTPUTS + output]!);
  }

  #addBlocks(format: QuantisedFormat, weights: Float32Array, tiles: Uint8Array, at: number): void {
    const width = weights.length / TILE_OUTPUTS;
    const size = blockBytes(format);
    const offset = codeOffset(format);
    const { codes } = this.#block;
    for (let first = 0; first < width; first += BLOCK_INPUTS) {
      unpackBlock(format, tiles, at + (first / BLOCK_INPUTS) * size, this.#block);
      for (let output = 0; output < TILE_OUTPUTS; output++) {
        const scale = this.#scales[output]!;
        const minimum = this.#minimums[output]!;
        for (let i = 0; i < BLOCK_INPUTS; i++) {
          const code = codes[output * BLOCK_INPUTS + i]! - offset;
          this.#compare(weights[output * width + first + i]!, scale * code + minimum);
        }
      }
    }
  }

  #addSuperBlocks(format: SuperBlockFormat, weights: Float32Array, tiles: Uint8Array, at: number): void {
    const width = weights.length / TILE_OUTPUTS;
    const { codes, scales } = this.#superBlock;
    for (let first = 0; first < width; first += SUPER_BLOCK_INPUTS) {
      unpackSuperBlock(
        format,
        tiles,
        at + (first / SUPER_BLOCK_INPUTS) * superBlockBytes(format),
        this.#superBlock,
      );
      for (let output = 0; output < TILE_OUTPUTS; output++) {
        const factor = this.#scales[output]!;
        const minimumFactor = this.#minimums[output]!;
        for (let i = 0; i < SUPER_BLOCK_INPUTS; i++) {
          const code = codes[output * SUPER_BLOCK_INPUTS + i]!;
          const pair = 16 * output + 2 * (i >> 5);
          const value =
            format === 'q6-k'
              ? factor * ((scales[pair + ((i >> 4) & 1)]! << 24) >> 24) * (code - codeOffset(format))
              : factor * scales[pair]! * code - minimumFactor * scales[pair + 1]!;
          this.#compare(weights[output * width + first + i]!, Math.fround(value));
        }
      }
    }
  }

  #compare(weight: number, written: number): void {
    this.#squares += weight * weight;
    this.#errors += (weight - written) ** 2;
  }
}
