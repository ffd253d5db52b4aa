// The row kernels in WebAssembly. They work in memory of their own and read rows there or in place.

import { assertInvariant } from '../../../errors.ts';
import { memoryOfRows } from '../../row-memory/row-memory.ts';
import { allocateMemory, Wasm, type WasmMemory, type WasmModule } from '../../row-memory/web-assembly.ts';
import {
  BLOCK_LENGTH,
  BUCKET_COUNT,
  type Buckets,
  countBlocks,
  isWholeBlocks,
  type RowKernels,
  type SpreadTokens,
} from './row-kernels.ts';
import { LARGEST_FLOAT32, NO_WEIGHT_MARGIN, ROUNDER, type WeightScale } from './token-weight.ts';
import { encodeRowModule, type RowFunctions } from './wasm-row-module.ts';
import { BUCKET_LANES } from './wasm-spread-functions.ts';

/** Compiled once, when the first sampler is made. */
let compiled: WasmModule | undefined;

export class WasmKernels implements RowKernels {
  readonly name = 'wasm';
  row: Float32Array;
  readonly blockMaxima: Float32Array;
  readonly blockWeightSums: Float64Array;
  readonly weights: Float32Array;
  readonly bucketWeightSums = new Float64Array(BUCKET_COUNT);
  /** Shape: `[BUCKET_COUNT, BUCKET_LANES]`. */
  readonly #laneWeightSums: Float64Array;
  readonly #ids: Int32Array;
  /** Address of scratch memory for the weights of one block. Unit: bytes. */
  readonly #scratch: number;
  readonly #work: WasmMemory;
  /** The copy of a row. Shape: `[blockCount * BLOCK_LENGTH]`; after the vocabulary it stays minus infinity. */
  readonly #copy: Float32Array;
  /** Of rows in the copy. */
  readonly #ofCopy: RowFunctions;
  /** Of rows in the memory of the last one that was read in place. */
  #inPlace: { readonly buffer: SharedArrayBuffer; readonly functions: RowFunctions } | null = null;
  /** Of the row. */
  #functions: RowFunctions;

  /** The process has WebAssembly. */
  constructor(vocabSize: number) {
    const blockCount = countBlocks(vocabSize);
    const rowLength = blockCount * BLOCK_LENGTH;
    // An id is written after the last one before it is known whether it belongs there.
    const idCount = rowLength + 1;
    const byteLength =
      8 * (blockCount + BUCKET_COUNT * BUCKET_LANES) +
      4 * (2 * rowLength + BLOCK_LENGTH + blockCount + idCount);
    const memory = allocateMemory(byteLength);
    assertInvariant(memory !== null, 'the fast kernels are made only where there is WebAssembly');
    this.#work = memory;
    this.#ofCopy = createFunctions(memory, memory);
    this.#functions = this.#ofCopy;
    let end = 0;
    const place = (bytes: number): number => {
      end += bytes;
      return end - bytes;
    };
    this.#copy = new Float32Array(memory.buffer, place(4 * rowLength), rowLength).fill(-Infinity);
    this.row = this.#copy;
    this.weights = new Float32Array(memory.buffer, place(4 * rowLength), rowLength);
    this.#scratch = place(4 * BLOCK_LENGTH);
    this.blockWeightSums = new Float64Array(memory.buffer, place(8 * blockCount), blockCount);
    const laneCount = BUCKET_COUNT * BUCKET_LANES;
    this.#laneWeightSums = new Float64Array(memory.buffer, place(8 * laneCount), laneCount);
    this.blockMaxima = new Float32Array(memory.buffer, place(4 * blockCount), blockCount);
    this.#ids = new Int32Array(memory.buffer, place(4 * idCount), idCount);
  }

  load(logits: Float32Array): void {
    this.#copy.set(logits);
    this.row = this.#copy;
    this.#functions = this.#ofCopy;
  }

  open(logits: Float32Array): void {
    if (this.#inPlace?.buffer !== logits.buffer) {
      const memory = isWholeBlocks(logits.length) ? memoryOfRows(logits) : undefined;
      if (memory === undefined) {
        this.load(logits);
        return;
      }
      this.#inPlace = { buffer: memory.buffer, functions: createFunctions(this.#work, memory) };
    }
    this.row = logits;
    this.#functions = this.#inPlace.functions;
  }

  scan(): number {
    return this.#functions.scan(this.#start, this.#end, this.blockMaxima.byteOffset);
  }

  weigh({ largest, factor, bits }: WeightScale, lowestLogit: number): number {
    const { weighAll, weighReaching } = this.#functions;
    const isLimited = lowestLogit > -LARGEST_FLOAT32;
    return (isLimited ? weighReaching : weighAll)(
      this.#start,
      this.#end,
      this.blockMaxima.byteOffset,
      this.blockWeightSums.byteOffset,
      largest,
      factor,
      ROUNDER + bits,
      -bits - NO_WEIGHT_MARGIN,
      lowestLogit,
      this.weights.byteOffset - this.#start,
    );
  }

  weighKept(lowestLogit: number): number {
    const { blockMaxima, blockWeightSums, weights } = this;
    return this.#functions.weighKept(
      this.#start,
      this.#end,
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
    const { blockMaxima, weights, bucketWeightSums } = this;
    const lanes = this.#laneWeightSums.fill(0);
    (tokens === 'all' ? spreadAll : spreadSample)(
      this.#start,
      this.#end,
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
      this.#start,
      this.#end,
      this.blockMaxima.byteOffset,
      ids.byteOffset,
      lowestLogit,
      belowLogit,
    );
    return ids.subarray(0, (end - ids.byteOffset) / Int32Array.BYTES_PER_ELEMENT);
  }

  /** Address of the row. */
  get #start(): number {
    return this.row.byteOffset;
  }

  get #end(): number {
    return this.row.byteOffset + this.row.byteLength;
  }
}

function createFunctions(work: WasmMemory, row: WasmMemory): RowFunctions {
  assertInvariant(Wasm !== null, 'a process with memory of WebAssembly has it');
  compiled ??= new Wasm.Module(encodeRowModule());
  return new Wasm.Instance(compiled, { env: { work, row } }).exports as RowFunctions;
}
