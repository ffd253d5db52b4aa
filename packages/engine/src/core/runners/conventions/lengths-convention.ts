// Calls of our own `kernels` and `slots` graphs: lengths are numbers in arrays, so a call fits any number of computed tokens, and logits
// come for the rows that were asked for. The small inputs are in arrays that are made once per shape and
// refilled.

import { endianness } from 'node:os';
import type { OrtBackend, OrtTensor } from '@ortler/onnxruntime';
import { assertInvariant } from '../../../errors.ts';
import { SLOTS_INPUT } from '../../../graph-contract/index.ts';
import type { RunnerRow } from '../model-runner.ts';
import type { CallConvention, CallInputs, CallShape, LogitsPlace } from './call-convention.ts';

export class LengthsConvention implements CallConvention {
  readonly chunkLimit = Number.POSITIVE_INFINITY;
  readonly #backend: OrtBackend;
  readonly #inputNames: readonly string[];

  constructor(backend: OrtBackend, inputNames: readonly string[]) {
    this.#backend = backend;
    this.#inputNames = inputNames;
  }

  span(): number {
    return 0;
  }

  createInputs(shape: CallShape): CallInputs {
    return new BatchInputs(this.#backend, shape, this.#inputNames);
  }

  logitsPlace({ batchSize, logitsPerRow }: CallShape): LogitsPlace {
    return { dims: [batchSize * logitsPerRow], firstRow: 0 };
  }
}

/** Inputs of a call of that shape, by graph name; see `SLOTS_INPUT` for the shapes. */
class BatchInputs implements CallInputs {
  readonly tensors: ReadonlyMap<string, OrtTensor>;
  readonly #length: number;
  /** The int64 ids as 32-bit halves: writing them needs no BigInt per token. Ids are never negative. */
  readonly #idWords: Int32Array;
  readonly #lastPositions: Int32Array;
  readonly #totalLength = new Int32Array(1);
  readonly #stateReads: Int32Array;
  readonly #stateWrites: Int32Array;

  /** `inputNames`: those of the graph, which may leave out the total length and the states. */
  constructor(
    backend: OrtBackend,
    { batchSize, length, logitsPerRow }: CallShape,
    inputNames: readonly string[],
  ) {
    assertInvariant(endianness() === 'LE', 'the machine stores the low half of an integer first');
    const ids = new BigInt64Array(batchSize * length);
    const logitRows = BigInt64Array.from({ length: batchSize * logitsPerRow }, (_, index) => {
      const row = Math.floor(index / logitsPerRow);
      return BigInt((row + 1) * length - logitsPerRow + (index % logitsPerRow));
    });
    this.#length = length;
    this.#idWords = new Int32Array(ids.buffer);
    this.#lastPositions = new Int32Array(batchSize);
    this.#stateReads = new Int32Array(batchSize);
    this.#stateWrites = new Int32Array(batchSize * length);
    const tensors = new Map<string, OrtTensor>([
      [SLOTS_INPUT.inputIds, backend.createTensor('int64', [batchSize, length], ids)],
      [SLOTS_INPUT.lastPositions, backend.createTensor('int32', [batchSize], this.#lastPositions)],
      [SLOTS_INPUT.logitRows, backend.createTensor('int64', [logitRows.length], logitRows)],
    ]);
    const optional = [
      [SLOTS_INPUT.totalLength, [], this.#totalLength],
      [SLOTS_INPUT.stateReads, [batchSize], this.#stateReads],
      [SLOTS_INPUT.stateWrites, [batchSize, length], this.#stateWrites],
    ] as const;
    for (const [name, dims, values] of optional)
      if (inputNames.includes(name)) tensors.set(name, backend.createTensor('int32', dims, values));
    this.tensors = tensors;
  }

  fill(rows: readonly RunnerRow[]): void {
    let longest = 0;
    this.#stateWrites.fill(-1);
    for (let index = 0; index < this.#lastPositions.length; index++) {
      const row = rows[index]!;
      this.#setRow(index, row);
      longest = Math.max(longest, row.computedLength + this.#length);
    }
    this.#totalLength[0] = longest;
  }

  #setRow(index: number, { tokenIds, computedLength, states }: RunnerRow): void {
    const length = this.#length;
    for (let i = 0; i < length; i++) this.#idWords[2 * (index * length + i)] = tokenIds[i]!;
    this.#lastPositions[index] = computedLength + length - 1;
    this.#stateReads[index] = states?.read ?? -1;
    for (const { offset, entry } of states?.writes ?? []) this.#stateWrites[index * length + offset] = entry;
  }

  dispose(): void {
    for (const tensor of this.tensors.values()) tensor.dispose();
  }
}
