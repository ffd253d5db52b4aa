// The loops over a row in WebAssembly, on memory of their own.

import { assertInvariant } from '../../../errors.ts';
import { BLOCK_LENGTH, countBlocks, type RowKernels } from './row-kernels.ts';
import { NO_WEIGHT_MARGIN, ROUNDER, type WeightScale } from './token-weight.ts';
import { encodeRowModule, type RowFunctions } from './wasm-row-module.ts';
import { Wasm, type WasmModule } from './web-assembly.ts';

const PAGE_BYTES = 65_536;

/** Compiled once, when the first sampler is made. */
let compiled: WasmModule | undefined;

export class WasmKernels implements RowKernels {
  readonly name = 'wasm';
  readonly row: Float32Array;
  readonly blockMaxima: Float32Array;
  readonly blockMasses: Float64Array;
  readonly #functions: RowFunctions;

  /** The process has WebAssembly. */
  constructor(vocabSize: number) {
    assertInvariant(Wasm !== null, 'the fast kernels are made only where there is WebAssembly');
    const blockCount = countBlocks(vocabSize);
    const rowBytes = blockCount * BLOCK_LENGTH * Float32Array.BYTES_PER_ELEMENT;
    const massBytes = blockCount * Float64Array.BYTES_PER_ELEMENT;
    const byteLength = rowBytes + massBytes + blockCount * Float32Array.BYTES_PER_ELEMENT;
    const memory = new Wasm.Memory({ initial: Math.ceil(byteLength / PAGE_BYTES) });
    compiled ??= new Wasm.Module(encodeRowModule());
    const { exports } = new Wasm.Instance(compiled, { env: { memory } });
    this.#functions = exports as RowFunctions;
    this.row = new Float32Array(memory.buffer, 0, blockCount * BLOCK_LENGTH).fill(-Infinity);
    this.blockMasses = new Float64Array(memory.buffer, rowBytes, blockCount);
    this.blockMaxima = new Float32Array(memory.buffer, rowBytes + massBytes, blockCount);
  }

  scan(): number {
    return this.#functions.scan(this.row.byteLength, this.blockMaxima.byteOffset);
  }

  weigh({ largest, factor, bits }: WeightScale, lowestLogit: number): number {
    const { row, blockMaxima, blockMasses } = this;
    return this.#functions.weigh(
      row.byteLength,
      blockMaxima.byteOffset,
      blockMasses.byteOffset,
      largest,
      factor,
      ROUNDER + bits,
      -bits - NO_WEIGHT_MARGIN,
      lowestLogit,
    );
  }
}
