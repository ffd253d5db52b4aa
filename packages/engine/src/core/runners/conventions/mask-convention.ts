// Calls of `slots` graphs that other programs exported: a mask says how many tokens each row has, and logits come for every
// position. The mask's width is part of a call's shape.

import { endianness } from 'node:os';
import type { OrtBackend, OrtTensor } from '@ortler/onnxruntime';
import { assertInvariant } from '../../../errors.ts';
import { MASK_INPUT } from '../../../graph-contract/index.ts';
import type { RunnerRow } from '../model-runner.ts';
import { roundedSize } from '../paged/packed-shape.ts';
import type { CallConvention, CallInputs, CallShape, LogitsPlace } from './call-convention.ts';

export interface MaskConventionOptions {
  readonly inputNames: readonly string[];
  readonly contextLength: number;
  /** Maximum number of rows of a call. */
  readonly batchLimit: number;
  /** Maximum number of rows of logits that there is memory for. */
  readonly logitsLimit: number;
  /**
   * `rounded` widths let many steps share a prepared call. `exact` ones are for devices, whose kernels may take the width
   * for the length of a sequence; there a batch is one row.
   */
  readonly maskWidth: 'rounded' | 'exact';
}

export class MaskConvention implements CallConvention {
  readonly chunkLimit: number;
  readonly #backend: OrtBackend;
  readonly #contextLength: number;
  readonly #hasPositions: boolean;
  readonly #maskWidth: MaskConventionOptions['maskWidth'];
  /** Shape: `[batchLimit, contextLength]` at most. That of all calls, which would else hold megabytes each. */
  readonly #mask: BigInt64Array;

  constructor(backend: OrtBackend, options: MaskConventionOptions) {
    const { inputNames, contextLength, batchLimit, logitsLimit, maskWidth } = options;
    this.#backend = backend;
    this.chunkLimit = logitsLimit;
    this.#contextLength = contextLength;
    this.#maskWidth = maskWidth;
    this.#hasPositions = inputNames.includes(MASK_INPUT.positionIds);
    this.#mask = new BigInt64Array(batchLimit * contextLength);
  }

  /** The width of the mask. */
  span(longest: number): number {
    return this.#maskWidth === 'exact' ? longest : Math.min(this.#contextLength, roundedSize(longest));
  }

  createInputs(shape: CallShape): CallInputs {
    const mask = this.#mask.subarray(0, shape.batchSize * shape.span);
    return new MaskInputs(this.#backend, { shape, mask, hasPositions: this.#hasPositions });
  }

  logitsPlace({ batchSize, length, logitsPerRow }: CallShape): LogitsPlace {
    assertInvariant(batchSize === 1 || logitsPerRow === length, 'rows of logits are neighbours');
    return { dims: [batchSize, length], firstRow: length - logitsPerRow };
  }
}

interface MaskInputsParts {
  readonly shape: CallShape;
  /** Shape: `[batchSize, span]`. Others write there between calls. */
  readonly mask: BigInt64Array;
  readonly hasPositions: boolean;
}

/** See `MASK_INPUT` for the shapes. */
class MaskInputs implements CallInputs {
  readonly tensors: ReadonlyMap<string, OrtTensor>;
  readonly #shape: CallShape;
  readonly #mask: BigInt64Array;
  /** The int64 ids as 32-bit halves: writing them needs no BigInt per token. Ids are never negative. */
  readonly #idWords: Int32Array;
  /** The int64 positions as 32-bit halves. */
  readonly #positionWords: Int32Array;

  constructor(backend: OrtBackend, { shape, mask, hasPositions }: MaskInputsParts) {
    assertInvariant(endianness() === 'LE', 'the machine stores the low half of an integer first');
    const { batchSize, length, span } = shape;
    const dims = [batchSize, length];
    const ids = new BigInt64Array(batchSize * length);
    const positions = new BigInt64Array(batchSize * length);
    this.#shape = shape;
    this.#mask = mask;
    this.#idWords = new Int32Array(ids.buffer);
    this.#positionWords = new Int32Array(positions.buffer);
    const tensors = new Map<string, OrtTensor>([
      [MASK_INPUT.inputIds, backend.createTensor('int64', dims, ids)],
      [MASK_INPUT.attentionMask, backend.createTensor('int64', [batchSize, span], mask)],
    ]);
    if (hasPositions) tensors.set(MASK_INPUT.positionIds, backend.createTensor('int64', dims, positions));
    this.tensors = tensors;
  }

  fill(rows: readonly RunnerRow[]): void {
    for (let index = 0; index < this.#shape.batchSize; index++) this.#setRow(index, rows[index]!);
  }

  #setRow(index: number, { tokenIds, computedLength }: RunnerRow): void {
    const { length, span } = this.#shape;
    for (let i = 0; i < length; i++) {
      this.#idWords[2 * (index * length + i)] = tokenIds[i]!;
      this.#positionWords[2 * (index * length + i)] = computedLength + i;
    }
    const start = index * span;
    const end = start + computedLength + length;
    this.#mask.fill(1n, start, end);
    this.#mask.fill(0n, end, start + span);
  }

  dispose(): void {
    for (const tensor of this.tensors.values()) tensor.dispose();
  }
}
