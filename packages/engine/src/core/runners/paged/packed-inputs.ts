// The small inputs of one call of a `paged` graph, in arrays that are made once per shape and refilled.

import { endianness } from 'node:os';
import type { OrtBackend, OrtTensor } from '@ortler/onnxruntime';
import { assertInvariant } from '../../../errors.ts';
import { PAGED_INPUT } from '../../../graph-contract/index.ts';
import type { RunnerRow } from '../model-runner.ts';
import { type PackedShape, paddingLengths } from './packed-shape.ts';

export class PackedInputs {
  /** By graph name; see `PAGED_INPUT` for the shapes. */
  readonly tensors: ReadonlyMap<string, OrtTensor>;
  readonly #shape: PackedShape;
  /** The block that padding is written to. */
  readonly #spareBlock: number;
  /** The int64 arrays as 32-bit halves: writing them needs no BigInt per token. Nothing in them is negative. */
  readonly #idWords: Int32Array;
  readonly #logitRowWords: Int32Array;
  readonly #blockTable: Int32Array;
  readonly #cumulativeLengths: Int32Array;
  readonly #pastLengths: Int32Array;
  readonly #bounds = new Int32Array(3);

  constructor(backend: OrtBackend, shape: PackedShape, spareBlock: number) {
    assertInvariant(endianness() === 'LE', 'the machine stores the low half of an integer first');
    const { tokenCount, batchSize, tableWidth, logitsCount } = shape;
    const ids = new BigInt64Array(tokenCount);
    const logitRows = new BigInt64Array(logitsCount);
    this.#shape = shape;
    this.#spareBlock = spareBlock;
    this.#idWords = new Int32Array(ids.buffer);
    this.#logitRowWords = new Int32Array(logitRows.buffer);
    this.#blockTable = new Int32Array(batchSize * tableWidth);
    this.#cumulativeLengths = new Int32Array(batchSize + 1);
    this.#pastLengths = new Int32Array(batchSize);
    this.tensors = new Map<string, OrtTensor>([
      [PAGED_INPUT.inputIds, backend.createTensor('int64', [tokenCount], ids)],
      [PAGED_INPUT.blockTable, backend.createTensor('int32', [batchSize, tableWidth], this.#blockTable)],
      [
        PAGED_INPUT.cumulativeLengths,
        backend.createTensor('int32', [batchSize + 1], this.#cumulativeLengths),
      ],
      [PAGED_INPUT.pastLengths, backend.createTensor('int32', [batchSize], this.#pastLengths)],
      [PAGED_INPUT.bounds, backend.createTensor('int32', [3], this.#bounds)],
      [PAGED_INPUT.logitRows, backend.createTensor('int64', [logitsCount], logitRows)],
    ]);
  }

  /** Mutates: the arrays. The rows are what the shape was made for, or less. */
  fill(rows: readonly RunnerRow[], blockLength: number): void {
    const { tableWidth, batchSize, tokenCount } = this.#shape;
    this.#blockTable.fill(this.#spareBlock);
    let token = 0;
    let logit = 0;
    let longestQuery = 0;
    let longest = 0;
    for (const [index, { tokenIds, computedLength, logitsCount, blocks }] of rows.entries()) {
      const blockCount = Math.ceil((computedLength + tokenIds.length) / blockLength);
      assertInvariant(blocks !== undefined && blocks.length >= blockCount, 'a row has blocks for its tokens');
      for (let i = 0; i < blockCount; i++) this.#blockTable[index * tableWidth + i] = blocks[i]!;
      for (const tokenId of tokenIds) this.#idWords[2 * token++] = tokenId;
      for (let i = token - logitsCount; i < token; i++) this.#logitRowWords[2 * logit++] = i;
      longestQuery = Math.max(longestQuery, tokenIds.length);
      longest = Math.max(longest, computedLength + tokenIds.length);
      this.#pastLengths[index] = computedLength;
      this.#cumulativeLengths[index + 1] = token;
    }
    this.#logitRowWords.fill(0, 2 * logit);
    this.#idWords.fill(0, 2 * token);
    this.#pastLengths.fill(0, rows.length);
    const lengths = paddingLengths(tokenCount - token, batchSize - rows.length);
    for (const [index, length] of lengths.entries()) {
      token += length;
      longestQuery = Math.max(longestQuery, length);
      longest = Math.max(longest, length);
      this.#cumulativeLengths[rows.length + index + 1] = token;
    }
    this.#bounds[0] = longestQuery;
    this.#bounds[1] = longest;
    this.#bounds[2] = longest;
  }

  dispose(): void {
    for (const tensor of this.tensors.values()) tensor.dispose();
  }
}
