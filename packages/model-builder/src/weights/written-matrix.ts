// The error of a matrix as it was written: its tiles are decoded again and compared with the weights of the checkpoint.

import {
  BLOCK_INPUTS,
  blockBytes,
  codeOffset,
  TILE_OUTPUTS,
  unpackBlock,
  type WeightFormat,
} from '@ortler/kernels';

/** Facts of a matrix of a build. */
export interface WrittenMatrix {
  readonly name: string;
  readonly format: WeightFormat;
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
    else this.#addBlocks(this.#format, weights, tiles, at);
  }

  #addFloats(weights: Float32Array, tiles: Uint8Array<ArrayBuffer>, at: number): void {
    const width = weights.length / TILE_OUTPUTS;
    const tile = new Float32Array(tiles.buffer, tiles.byteOffset + at, weights.length);
    for (let output = 0; output < TILE_OUTPUTS; output++)
      for (let input = 0; input < width; input++)
        this.#compare(weights[output * width + input]!, tile[input * TILE_OUTPUTS + output]!);
  }

  #addBlocks(
    format: Exclude<WeightFormat, 'f32'>,
    weights: Float32Array,
    tiles: Uint8Array,
    at: number,
  ): void {
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

  #compare(weight: number, written: number): void {
    this.#squares += weight * weight;
    this.#errors += (weight - written) ** 2;
  }
}
