// Values of the native backend: views of typed arrays, and memory that ONNX Runtime allocated on a device.

import type { ElementArray, ElementType, OrtDevice, OrtTensor, OrtValue } from './backend.ts';
import { type Handle, type OrtCApi, receive } from './c-api.ts';
import { ELEMENT_TYPES } from './element-types.ts';
import { assertInvariant } from './errors.ts';

export interface ValueDescription {
  readonly device: OrtDevice;
  readonly type: ElementType;
  readonly shape: readonly number[];
}

/** An OrtValue of the C API and what it holds. */
export class NativeValue implements OrtValue {
  static #disposedCount = 0;
  readonly device: OrtDevice;
  readonly type: ElementType;
  readonly shape: readonly number[];
  readonly #api: OrtCApi;
  readonly #onDispose: (() => void) | undefined;
  #handle: Handle | null;

  constructor(
    api: OrtCApi,
    { device, type, shape }: ValueDescription,
    handle: Handle,
    onDispose?: () => void,
  ) {
    this.#api = api;
    this.device = device;
    this.type = type;
    this.shape = shape;
    this.#handle = handle;
    this.#onDispose = onDispose;
  }

  /**
   * Number of values disposed so far in this process: while it stays the same, no value has been disposed.
   */
  static get disposedCount(): number {
    return NativeValue.#disposedCount;
  }

  get isDisposed(): boolean {
    return this.#handle === null;
  }

  get handle(): Handle {
    assertInvariant(this.#handle !== null, 'a disposed tensor is not used');
    return this.#handle;
  }

  dispose(): void {
    if (this.#handle === null) return;
    this.#onDispose?.();
    this.#api.functions.releaseValue(this.#handle);
    this.#handle = null;
    NativeValue.#disposedCount++;
  }
}

/** A view of a typed array, which it keeps alive. */
export class NativeTensor extends NativeValue implements OrtTensor {
  readonly data: ElementArray;

  constructor(
    api: OrtCApi,
    memoryInfo: Handle,
    description: Omit<ValueDescription, 'device'>,
    data: ElementArray,
  ) {
    // Reading `buffer` moves a small array out of V8's heap, where a collection could move it.
    const { buffer } = data;
    assertInvariant(
      buffer instanceof ArrayBuffer || buffer instanceof SharedArrayBuffer,
      'tensors live in plain memory',
    );
    const { type, shape } = description;
    const handle = receive(api, 'runtime_failed', 'Creating a tensor', out =>
      api.functions.createTensorWithData(
        memoryInfo,
        data,
        data.byteLength,
        toDimensions(shape),
        shape.length,
        ELEMENT_TYPES[type].code,
        out,
      ),
    );
    super(api, { ...description, device: 'cpu' }, handle);
    this.data = data;
  }
}

/** As the C API takes a shape. */
export function toDimensions(shape: readonly number[]): BigInt64Array {
  return BigInt64Array.from(shape, BigInt);
}

export function toNativeValue(value: OrtValue): NativeValue {
  assertInvariant(value instanceof NativeValue, 'a tensor is used with the backend that made it');
  return value;
}
