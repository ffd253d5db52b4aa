// The row kernels in WebAssembly, on memory of their own.

import { assertInvariant } from '../../../errors.ts';
import {
  BLOCK_LENGTH,
  BUCKET_COUNT,
  type Buckets,
  countBlocks,
  type RowKernels,
  type SpreadTokens,
} from './row-kernels.ts';
import { LARGEST_FLOAT32, NO_WEIGHT_MARGIN, ROUNDER, type WeightScale } from './token-weight.ts';
import { encodeRowModule, type RowFunctions } from './wasm-row-module.ts';
import { BUCKET_LANES } from './wasm-spread-functions.ts';
import { Wasm, type WasmModule } from './web-assembly.ts';

const PAGE_BYTES = 65_536;

/** Compiled once, when the first sampler is made. */
let compiled: WasmModule | undefined;

export class WasmKernels implements RowKernels {
  readonly name = 'wasm';
  readonly row: Float32Array;
  readonly blockMaxima: Float32Array;
  readonly blockWeightSums: Float64Array;
  readonly weights: Float32Array;
  readonly bucketWeightSums = new Float64Array(BUCKET_COUNT);
  /** Shape: `[BUCKET_COUNT, BUCKET_LANES]`. */
  readonly #laneWeightSums: Float64Array;
  readonly #ids: Int32Array;
  /** Address of scratch memory for the weights of one block. Unit: bytes. */
  readonly #scratch: number;
  readonly #functions: RowFunctions;

  /** The process has WebAssembly. */
  constructor(vocabSize: number) {
    assertInvariant(Wasm !== null, 'the fast kernels are made only where there is WebAssembly');
    const blockCount = countBlocks(vocabSize);
    const rowLength = blockCount * BLOCK_LENGTH;
    // An id is written behind the last one before it is known whether it belongs there.
    const idCount = rowLength + 1;
    const byteLength =
      8 * (blockCount + BUCKET_COUNT * BUCKET_LANES) +
      4 * (2 * rowLength + BLOCK_LENGTH + blockCount + idCount);
    const memory = new Wasm.Memory({ initial: Math.ceil(byteLength / PAGE_BYTES) });
    compiled ??= new Wasm.Module(encodeRowModule());
    const { exports } = new Wasm.Instance(compiled, { env: { memory } });
    this.#functions = exports as RowFunctions;
    let end = 0;
    const place = (bytes: number): number => {
      end += bytes;
      return end - bytes;
    };
    this.row = new Float32Array(memory.buffer, place(4 * rowLength), rowLength).fill(-Infinity);
    this.weights = new Float32Array(memory.buffer, place(4 * rowLength), rowLength);
    this.#scratch = place(4 * BLOCK_LENGTH);
    this.blockWeightSums = new Float64Array(memory.buffer, place(8 * blockCount), blockCount);
    const laneCount = BUCKET_COUNT * BUCKET_LANES;
    this.#laneWeightSums = new Float64Array(memory.buffer, place(8 * laneCount), laneCount);
    this.blockMaxima = new Float32Array(memory.buffer, place(4 * blockCount), blockCount);
    this.#ids = new Int32Array(memory.buffer, place(4 * idCount), idCount);
  }

  scan(): number {
    return this.#functions.scan(this.row.byteLength, this.blockMaxima.byteOffset);
  }

  weigh({ largest, factor, bits }: WeightScale, lowestLogit: number): number {
    const { weighAll, weighReaching } = this.#functions;
    const isLimited = lowestLogit > -LARGEST_FLOAT32;
    return (isLimited ? weighReaching : weighAll)(
      this.row.byteLength,
      this.blockMaxima.byteOffset,
      this.blockWeightSums.byteOffset,
      largest,
      factor,
      ROUNDER + bits,
      -bits - NO_WEIGHT_MARGIN,
      lowestLogit,
      this.weights.byteOffset,
    );
  }

  weighKept(lowestLogit: number): number {
    const { row, blockMaxima, blockWeightSums, weights } = this;
    return this.#functions.weighKept(
      row.byteLength,
      blockMaxima.byteOffset,
      blockWeightSums.byteOffset,
      weights.byteOffset,
      this.#scratch,
      lowestLogit,
    );
  }

  weightReaching(lowestLogit: number): number {
    const { blockMaxima, blockWeightSums } = this;
    const end = blockMaxima.byteOffset + blockMaxima.byteLength;
    return this.#functions.weightReaching(
      blockMaxima.byteOffset,
      end,
      blockWeightSums.byteOffset,
      lowestLogit,
    );
  }

  spread({ largest, stride, lowestLogit }: Buckets, tokens: SpreadTokens): void {
    const { spreadAll, spreadSample } = this.#functions;
    const { row, blockMaxima, weights, bucketWeightSums } = this;
    const lanes = this.#laneWeightSums.fill(0);
    (tokens === 'all' ? spreadAll : spreadSample)(
      row.byteLength,
      blockMaxima.byteOffset,
      lanes.byteOffset,
      weights.byteOffset,
      largest,
      stride,
      lowestLogit,
    );
    for (let bucket = 0; bucket < BUCKET_COUNT; bucket++) {
      const at = bucket * BUCKET_LANES;
      bucketWeightSums[bucket] = lanes[at]! + lanes[at + 1]! + (lanes[at + 2]! + lanes[at + 3]!);
    }
  }

  gatherBetween(lowestLogit: number, belowLogit: number): Int32Array {
    const ids = this.#ids;
    const end = this.#functions.gatherBetween(
      this.row.byteLength,
      this.blockMaxima.byteOffset,
      ids.byteOffset,
      lowestLogit,
      belowLogit,
    );
    return ids.subarray(0, (end - ids.byteOffset) / Int32Array.BYTES_PER_ELEMENT);
  }
}
