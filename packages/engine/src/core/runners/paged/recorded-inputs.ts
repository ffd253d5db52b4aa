// Inputs of a call under graph capture: on the device, written before each run. Values that operators read on the CPU must be
// the same each time, so bounds are those of the whole block table.

import type { OrtBackend, OrtSession, OrtTensor, OrtValue } from '@ortler/onnxruntime';
import { PAGED_INPUT } from '../../../graph-contract.ts';
import type { RunnerRow } from '../model-runner.ts';
import { type CallBounds, PackedInputs } from './packed-inputs.ts';
import type { PackedShape } from './packed-shape.ts';

export interface RecordedCallLimits {
  readonly spareBlock: number;
  readonly blockLength: number;
  /** Most tokens of a sequence. */
  readonly contextLength: number;
}

export class RecordedInputs {
  /** By graph name. */
  readonly tensors: ReadonlyMap<string, OrtValue>;
  readonly #backend: OrtBackend;
  readonly #packed: PackedInputs;
  readonly #bounds: CallBounds;
  readonly #blockLength: number;
  readonly #sources: readonly OrtTensor[];
  readonly #targets: readonly OrtValue[];

  /** For calls in which every row has one token. `model` gives the memory. */
  constructor(backend: OrtBackend, model: OrtSession, shape: PackedShape, limits: RecordedCallLimits) {
    const { spareBlock, blockLength, contextLength } = limits;
    this.#backend = backend;
    this.#packed = new PackedInputs(backend, shape, spareBlock);
    this.#blockLength = blockLength;
    const longest = Math.min(shape.tableWidth * blockLength, contextLength);
    this.#bounds = { longestQuery: 1, longest, leastLongest: 0 };
    const uploaded = [...this.#packed.tensors].filter(([name]) => name !== PAGED_INPUT.bounds);
    this.#sources = uploaded.map(([, tensor]) => tensor);
    this.#targets = this.#sources.map(({ type, shape }) => model.allocate(type, shape));
    const onDevice = uploaded.map(([name], index) => [name, this.#targets[index]!] as const);
    this.tensors = new Map<string, OrtValue>([...this.#packed.tensors, ...onDevice]);
  }

  /** Mutates: what lies on the device. The rows are what the shape was made for, or less. */
  async fill(rows: readonly RunnerRow[]): Promise<void> {
    this.#packed.fill(rows, this.#blockLength, this.#bounds);
    await this.#backend.upload(this.#sources, this.#targets);
  }

  dispose(): void {
    for (const value of this.#targets) value.dispose();
    this.#packed.dispose();
  }
}
