// The scripted model over a cache of blocks. Each block holds the tokens that were written into it, so a wrong block
// table, a missed copy or a block given to two shows up as a wrong next token or as an error.

import type { BlockModelRunner, RunnerRow } from '../core/runners/model-runner.ts';
import { type ScriptedModelOptions, ScriptedRunner } from './scripted-model.ts';

export interface ScriptedBlockModelOptions extends ScriptedModelOptions {
  readonly blockCount: number;
  readonly blockLength: number;
}

/** Content of memory that was never written. */
const NEVER_WRITTEN = -1;

export class ScriptedBlockModel extends ScriptedRunner implements BlockModelRunner {
  readonly cacheKind = 'blocks';
  readonly blockCount: number;
  readonly blockLength: number;
  /** Tokens of all blocks. Shape: `[blockCount, blockLength]`. */
  readonly #tokens: Int32Array;
  /** Copies since the last call, in their order. */
  readonly #copies: (readonly [from: number, to: number])[] = [];
  copyCount = 0;

  constructor(options: ScriptedBlockModelOptions) {
    super(options);
    this.blockCount = options.blockCount;
    this.blockLength = options.blockLength;
    this.#tokens = new Int32Array(this.blockCount * this.blockLength).fill(NEVER_WRITTEN);
  }

  copyBlock(from: number, to: number): void {
    this.#copies.push([from, to]);
    this.copyCount++;
  }

  protected compute(rows: readonly RunnerRow[]): void {
    for (const [from, to] of this.#copies.splice(0)) {
      const start = from * this.blockLength;
      this.#tokens.copyWithin(to * this.blockLength, start, start + this.blockLength);
    }
    for (const row of rows) this.#checkReads(row);
    const writers = new Map<number, RunnerRow>();
    for (const row of rows) for (const block of this.#writtenBlocks(row)) this.#claim(writers, block, row);
    // A device computes all rows at once: no row may read a block that another row writes.
    for (const row of rows)
      for (const block of this.#blocksOf(row))
        if ((writers.get(block) ?? row) !== row)
          throw new Error(`Block ${block} is read while it is written.`);
    for (const row of rows)
      for (const [offset, tokenId] of row.tokenIds.entries())
        this.#tokens[this.#indexOf(row, row.computedLength + offset)] = tokenId;
  }

  protected historyOf(row: RunnerRow): readonly number[] {
    const length = row.computedLength + row.tokenIds.length;
    return Array.from({ length }, (_, position) => this.#tokens[this.#indexOf(row, position)]!);
  }

  #claim(writers: Map<number, RunnerRow>, block: number, row: RunnerRow): void {
    if (writers.has(block)) throw new Error(`Block ${block} is written by two sequences.`);
    writers.set(block, row);
  }

  #checkReads(row: RunnerRow): void {
    const end = row.computedLength + row.tokenIds.length;
    if (end > this.facts.contextLength) throw new Error(`A row ends at ${end}, over the context.`);
    for (let position = 0; position < row.computedLength; position++)
      if (this.#tokens[this.#indexOf(row, position)] === NEVER_WRITTEN)
        throw new Error(
          `${row.computedLength} tokens are claimed but position ${position} was never written.`,
        );
  }

  #writtenBlocks(row: RunnerRow): readonly number[] {
    return this.#blocksOf(row).slice(Math.floor(row.computedLength / this.blockLength));
  }

  /** Blocks of the row's tokens, including the tokens of this call. */
  #blocksOf({ blocks, computedLength, tokenIds }: RunnerRow): readonly number[] {
    const count = Math.ceil((computedLength + tokenIds.length) / this.blockLength);
    return [...(blocks?.subarray(0, count) ?? [])];
  }

  #indexOf({ blocks }: RunnerRow, position: number): number {
    const block = blocks?.[Math.floor(position / this.blockLength)];
    if (block === undefined || block < 0 || block >= this.blockCount)
      throw new Error(`Position ${position} has no block.`);
    return block * this.blockLength + (position % this.blockLength);
  }
}
