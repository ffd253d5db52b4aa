// Logits of a paged model on the device: one value for each size, all of them views of one memory if it can be bound as one.
// The device's sampler reads them there; `read` copies them to the process for all others.

import type { OrtBackend, OrtSession, OrtTensor, OrtValue } from '@ortler/onnxruntime';
import { powerOfTwo } from './packed-shape.ts';

/** Logits of one call of the model, valid until the next step. */
export interface LogitsPart {
  /** Shape: at least `[rowCount, vocabSize]`, float32. The same value comes again for calls of the same size. */
  readonly value: OrtValue;
  readonly rowCount: number;
}

export interface LogitsShape {
  readonly vocabSize: number;
  /** Maximum number of rows of a step. */
  readonly rowLimit: number;
  /** Largest part of one tensor that a kernel can reach. Absent: unknown. */
  readonly maxTensorBytes?: number | undefined;
}

/** Memory of the logits of a step's first call on the device. Unit: bytes. */
export function logitsMemoryBytes(shape: LogitsShape): number {
  const largest = largestBytes(shape);
  // Without sharing, those of all smaller powers of two come on top.
  return isShared(shape) ? largest : 2 * largest - rowBytes(shape);
}

function largestBytes(shape: LogitsShape): number {
  return powerOfTwo(shape.rowLimit) * rowBytes(shape);
}

function rowBytes({ vocabSize }: LogitsShape): number {
  return vocabSize * Float32Array.BYTES_PER_ELEMENT;
}

/** Kernels are given the whole memory of a value, also where it is a view of its beginning. */
function isShared(shape: LogitsShape): boolean {
  return largestBytes(shape) <= (shape.maxTensorBytes ?? Number.POSITIVE_INFINITY);
}

/** Logits of a step in row order: one part for each call, which mostly is one. */
export type DeviceLogits = readonly LogitsPart[];

export class LogitsStore {
  /**
   * Logits of a step's first call, of which all values are views. Shape: `[maximum number of rows,
   * vocabSize]`. Null: none.
   */
  readonly #whole: OrtValue | null;
  /** By call within a step and number of rows, a power of two. */
  readonly #values = new Map<string, OrtValue>();
  /** Where a part arrives in the process, by number of rows. */
  readonly #arrivals = new Map<number, OrtTensor>();
  readonly #backend: OrtBackend;
  readonly #model: OrtSession;
  readonly #vocabSize: number;
  /** Made when logits are read for the first time, and larger when more come. */
  #array = new Float32Array(0);

  /**
   * `model` gives the memory; that of a step's first call now, as few steps have a second one. Throws: `engine_failed` when
   * the device has no room.
   */
  constructor(backend: OrtBackend, model: OrtSession, shape: LogitsShape) {
    const { vocabSize, rowLimit } = shape;
    this.#backend = backend;
    this.#model = model;
    this.#vocabSize = vocabSize;
    this.#whole = isShared(shape) ? model.allocate('float32', [powerOfTwo(rowLimit), vocabSize]) : null;
    for (let rows = 1; rows <= powerOfTwo(rowLimit); rows *= 2) this.valueOf(0, rows);
  }

  /** Memory for the logits of a step's call with that index. `rows` is a power of two. */
  valueOf(callIndex: number, rows: number): OrtValue {
    const key = `${callIndex}/${rows}`;
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const shape = [rows, this.#vocabSize];
    const value =
      callIndex === 0 && this.#whole !== null
        ? this.#model.view(this.#whole, shape)
        : this.#model.allocate('float32', shape);
    this.#values.set(key, value);
    return value;
  }

  /** Brings the rows to the process. Shape: `[sum of rowCount, vocabSize]`; valid until the next call. */
  async read(logits: DeviceLogits): Promise<Float32Array> {
    const vocabSize = this.#vocabSize;
    const length = logits.reduce((sum, { rowCount }) => sum + rowCount, 0) * vocabSize;
    if (length > this.#array.length) this.#array = new Float32Array(length);
    let end = 0;
    for (const { value, rowCount } of logits) {
      if (rowCount === 0) continue;
      const arrival = this.#arrivalOf(value.shape[0]!);
      await this.#backend.copy(value, arrival);
      this.#array.set((arrival.data as Float32Array).subarray(0, rowCount * vocabSize), end);
      end += rowCount * vocabSize;
    }
    return this.#array.subarray(0, length);
  }

  dispose(): void {
    for (const tensor of this.#arrivals.values()) tensor.dispose();
    for (const value of this.#values.values()) value.dispose();
    this.#whole?.dispose();
  }

  #arrivalOf(rows: number): OrtTensor {
    const known = this.#arrivals.get(rows);
    if (known !== undefined) return known;
    const array = new Float32Array(rows * this.#vocabSize);
    const tensor = this.#backend.createTensor('float32', [rows, this.#vocabSize], array);
    this.#arrivals.set(rows, tensor);
    return tensor;
  }
}
