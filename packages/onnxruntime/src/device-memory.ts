// Device memory of one session: its allocator, and the values that come from it.

import type { ElementType } from './backend.ts';
import { checkStatus, type Handle, type OrtCApi, receive } from './c-api.ts';
import type { DeviceQueue } from './device-queue.ts';
import { byteLengthOf, countElements, ELEMENT_TYPES } from './element-types.ts';
import { assertInvariant, OrtError } from './errors.ts';
import { type Accelerator, DEVICE_MEMORY } from './execution-provider.ts';
import { NativeTensor, NativeValue, toDimensions, type ValueDescription } from './native-value.ts';

const DEVICE_ALLOCATOR = 0;
const FIRST_DEVICE = 0;
const DEFAULT_MEMORY = 0;
const NO_STREAM = 0n;

/** Two ones in float16, a small number in float32: what it leaves behind is never a NaN. */
const PATTERN = 0x3c003c00;

export interface DeviceMemoryOptions {
  readonly api: OrtCApi;
  readonly env: Handle;
  /** Description of the process's memory. */
  readonly processMemory: Handle;
  readonly session: Handle;
  readonly device: Accelerator;
  readonly queue: DeviceQueue;
}

export class DeviceMemory {
  readonly #options: DeviceMemoryOptions;
  readonly #info: Handle;
  readonly #allocator: Handle;
  #valueCount = 0;

  /** Throws: `runtime_failed` when the session has no memory there. */
  constructor(options: DeviceMemoryOptions) {
    const { api, session, device } = options;
    const { functions } = api;
    const doing = `Reaching the memory of the device "${device}"`;
    this.#options = options;
    this.#info = receive(api, 'runtime_failed', doing, out =>
      functions.createMemoryInfo(DEVICE_MEMORY[device], DEVICE_ALLOCATOR, FIRST_DEVICE, DEFAULT_MEMORY, out),
    );
    this.#allocator = receive(api, 'runtime_failed', doing, out =>
      functions.createAllocator(session, this.#info, out),
    );
  }

  allocate(type: ElementType, shape: readonly number[]): NativeValue {
    const { api, device, queue } = this.#options;
    const byteLength = byteLengthOf({ type, shape });
    queue.assertIdle('an allocation');
    const doing = `Allocating ${byteLength} bytes on the device "${device}" for ${type} [${shape.join(', ')}]`;
    const handle = receive(api, 'runtime_failed', doing, out =>
      api.functions.createTensor(
        this.#allocator,
        toDimensions(shape),
        shape.length,
        ELEMENT_TYPES[type].code,
        out,
      ),
    );
    const value = this.#take({ device, type, shape }, handle);
    if (device === 'cuda' || this.#keepsWhatIsWritten(handle)) return value;
    value.dispose();
    throw new OrtError('runtime_failed', `${doing}: out of memory.`);
  }

  /** The first elements of a value on this device, on the same memory; the value must outlive the view. */
  view(value: NativeValue, shape: readonly number[]): NativeValue {
    const { type, device } = value;
    assertInvariant(device === this.#options.device, 'a view is on the device of its value');
    return this.#take({ device, type, shape }, this.#windowOn(value.handle, type, shape));
  }

  dispose(): void {
    assertInvariant(this.#valueCount === 0, 'a session is disposed after the values that it allocated');
    const { functions } = this.#options.api;
    functions.releaseAllocator(this.#allocator);
    functions.releaseMemoryInfo(this.#info);
  }

  /**
   * WebGPU does not report a failed allocation: it returns a buffer that does not keep what is written to it.
   * So its first word is written and read, through a value of one element on the same buffer.
   */
  #keepsWhatIsWritten(handle: Handle): boolean {
    const { api, processMemory } = this.#options;
    const doing = 'Trying device memory';
    const shape = [1];
    const window = this.#windowOn(handle, 'uint32', shape);
    const word = Uint32Array.of(PATTERN);
    const tensor = new NativeTensor(api, processMemory, { type: 'uint32', shape }, word);
    try {
      this.#copy(tensor.handle, window, doing);
      word[0] = 0;
      this.#copy(window, tensor.handle, doing);
      return word[0] === PATTERN;
    } finally {
      tensor.dispose();
      api.functions.releaseValue(window);
    }
  }

  /** Another value on the first elements of the same memory. */
  #windowOn(handle: Handle, type: ElementType, shape: readonly number[]): Handle {
    const { api } = this.#options;
    const doing = 'Looking at device memory';
    const buffer = receive(api, 'runtime_failed', doing, out =>
      api.functions.getTensorMutableData(handle, out),
    );
    return receive(api, 'runtime_failed', doing, out =>
      api.functions.createTensorWithData(
        this.#info,
        buffer,
        countElements(shape) * ELEMENT_TYPES[type].array.BYTES_PER_ELEMENT,
        toDimensions(shape),
        shape.length,
        ELEMENT_TYPES[type].code,
        out,
      ),
    );
  }

  #take(description: ValueDescription, handle: Handle): NativeValue {
    this.#valueCount++;
    return new NativeValue(this.#options.api, description, handle, () => {
      this.#options.queue.assertIdle('disposing a device tensor');
      this.#valueCount--;
    });
  }

  #copy(source: Handle, target: Handle, doing: string): void {
    const { api, env } = this.#options;
    const [from, to] = [BigUint64Array.of(source), BigUint64Array.of(target)];
    checkStatus(
      api.functions,
      api.functions.copyTensors(env, from, to, NO_STREAM, 1),
      'runtime_failed',
      doing,
    );
  }
}
