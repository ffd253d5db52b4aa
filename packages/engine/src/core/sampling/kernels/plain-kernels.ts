// The loops over a row in plain JavaScript: what the WebAssembly ones are compared with, and what runs where a process
// has no WebAssembly (`node --jitless`). Slower, but the same bits.

import { BLOCK_LENGTH, countBlocks, type RowKernels } from './row-kernels.ts';
import { tokenWeight, type WeightScale } from './token-weight.ts';

export class PlainKernels implements RowKernels {
  readonly name = 'plain';
  readonly row: Float32Array;
  readonly blockMaxima: Float32Array;
  readonly blockMasses: Float64Array;

  constructor(vocabSize: number) {
    const blockCount = countBlocks(vocabSize);
    this.row = new Float32Array(blockCount * BLOCK_LENGTH).fill(-Infinity);
    this.blockMaxima = new Float32Array(blockCount);
    this.blockMasses = new Float64Array(blockCount);
  }

  scan(): number {
    const { row, blockMaxima } = this;
    let largest = -Infinity;
    let nanCount = 0;
    for (let block = 0; block < blockMaxima.length; block++) {
      let best = -Infinity;
      const end = (block + 1) * BLOCK_LENGTH;
      for (let id = block * BLOCK_LENGTH; id < end; id++) {
        const logit = row[id]!;
        if (Number.isNaN(logit)) nanCount++;
        if (logit > best) best = logit;
      }
      blockMaxima[block] = best;
      if (best > largest) largest = best;
    }
    return nanCount > 0 ? Number.NaN : largest;
  }

  weigh(scale: WeightScale, lowestLogit: number): number {
    const { row, blockMaxima, blockMasses } = this;
    const weightAt = (id: number): number => {
      const logit = row[id]!;
      return logit >= lowestLogit ? tokenWeight(logit, scale) : 0;
    };
    let total = 0;
    for (let block = 0; block < blockMasses.length; block++) {
      blockMasses[block] = 0;
      if (blockMaxima[block]! < lowestLogit) continue;
      // Four sums, added crosswise at the end: as the lanes of the other implementation.
      let sum0 = 0;
      let sum1 = 0;
      let sum2 = 0;
      let sum3 = 0;
      const end = (block + 1) * BLOCK_LENGTH;
      for (let id = block * BLOCK_LENGTH; id < end; id += 4) {
        sum0 += weightAt(id);
        sum1 += weightAt(id + 1);
        sum2 += weightAt(id + 2);
        sum3 += weightAt(id + 3);
      }
      const mass = sum0 + sum2 + (sum1 + sum3);
      blockMasses[block] = mass;
      total += mass;
    }
    return total;
  }
}
