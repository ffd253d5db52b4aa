// Sessions and prepared calls of the native backend: one `Run` on prepared pointers, on a thread of koffi's, so
// the event loop stays free, unless the caller says that it may block.

import koffi from 'koffi';
import type { ElementType, OrtBinding, OrtDevice, OrtRunOptions, OrtSession, OrtValue } from './backend.ts';
import {
  checkStatus,
  type Handle,
  type OrtCApi,
  type RunArguments,
  receive,
  receiveStatus,
} from './c-api.ts';
import { checkNames } from './check-names.ts';
import { DeviceMemory } from './device-memory.ts';
import type { DeviceQueue } from './device-queue.ts';
import { countElements, ELEMENT_TYPES } from './element-types.ts';
import { assertInvariant } from './errors.ts';
import { NativeTensor, NativeValue, toNativeValue } from './native-value.ts';
import { readCpuOperators } from './read-placement.ts';
import type { WeightsMemory } from './weights-memory.ts';

const NO_RUN_OPTIONS = 0n;

/** Shared by all sessions of a process. */
export interface SessionContext {
  readonly api: OrtCApi;
  readonly env: Handle;
  /** Describes the memory of the process, for views of arrays. */
  readonly memoryInfo: Handle;
  /** The runtime's allocator for that memory. */
  readonly allocator: Handle;
}

/** Where a session computes. */
export interface SessionDevice {
  readonly device: OrtDevice;
  /** Absent: sessions on the CPU run side by side. */
  readonly queue: DeviceQueue | undefined;
  /** Memory that the session reads its weights from; disposed with it. */
  readonly weights?: WeightsMemory | undefined;
}

export class NativeSession implements OrtSession {
  readonly device: OrtDevice;
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  readonly cpuOperators: readonly string[];
  readonly #context: SessionContext;
  readonly #queue: DeviceQueue | undefined;
  /** NUL-terminated names by name; every call gets their addresses. */
  readonly #nameBytes = new Map<string, Uint8Array>();
  #session: Handle | null;
  readonly #weights: WeightsMemory | undefined;
  /** Made for the first value. */
  #deviceMemory: DeviceMemory | undefined;
  #runningCount = 0;

  constructor(context: SessionContext, session: Handle, { device, queue, weights }: SessionDevice) {
    const { api, allocator } = context;
    const { functions } = api;
    this.#context = context;
    this.#session = session;
    this.device = device;
    this.#queue = queue;
    this.#weights = weights;
    const read = (
      count: (session: Handle, out: BigUint64Array) => number | bigint,
      name: (session: Handle, index: number, allocator: Handle, out: BigUint64Array) => number | bigint,
    ): string[] => {
      const total = Number(receive(api, 'model_invalid', 'Reading names', out => count(session, out)));
      return Array.from({ length: total }, (_, index) => {
        const address = receive(api, 'model_invalid', 'Reading names', out =>
          name(session, index, allocator, out),
        );
        const text = koffi.decode.string(address);
        checkStatus(
          functions,
          functions.allocatorFree(allocator, address),
          'runtime_failed',
          'Freeing a name',
        );
        return text;
      });
    };
    this.inputNames = read(functions.sessionGetInputCount, functions.sessionGetInputName);
    this.outputNames = read(functions.sessionGetOutputCount, functions.sessionGetOutputName);
    this.cpuOperators = device === 'cpu' ? [] : readCpuOperators(api, session);
    for (const name of [...this.inputNames, ...this.outputNames])
      this.#nameBytes.set(name, Buffer.from(`${name}\0`));
  }

  bind(inputs: ReadonlyMap<string, OrtValue>, outputs: ReadonlyMap<string, OrtValue>): OrtBinding {
    checkNames(this, inputs, outputs);
    const values = [...inputs.values(), ...outputs.values()].map(toNativeValue);
    for (const { device } of values)
      assertInvariant(
        device === 'cpu' || device === this.device,
        `a ${device} tensor is not used on ${this.device}`,
      );
    const inputNames = this.#nameAddresses(inputs.keys());
    const outputNames = this.#nameAddresses(outputs.keys());
    const inputValues = BigUint64Array.from(values.slice(0, inputs.size), value => value.handle);
    const outputValues = BigUint64Array.from(values.slice(inputs.size), value => value.handle);
    let isRunning = false;
    /**
     * `NativeValue.disposedCount` at the last check of all values, which are too many to be checked in every
     * call.
     */
    let disposedCount = -1;
    const call = ({ mayBlock = false }: OrtRunOptions): Promise<void> => {
      assertInvariant(this.#session !== null, 'a disposed session is not run');
      if (disposedCount !== NativeValue.disposedCount) {
        for (const value of values) assertInvariant(!value.isDisposed, 'a disposed tensor is not used');
        disposedCount = NativeValue.disposedCount;
      }
      const session = this.#session;
      const { api } = this.#context;
      const args: RunArguments = [
        session,
        NO_RUN_OPTIONS,
        inputNames,
        inputValues,
        inputValues.length,
        outputNames,
        outputValues.length,
        outputValues,
      ];
      const doing = 'Running the model';
      if (mayBlock && this.device === 'cpu') {
        checkStatus(api.functions, api.functions.run(...args), 'runtime_failed', doing);
        return Promise.resolve();
      }
      return receiveStatus(api, doing, done => api.functions.run.async(...args, done));
    };
    return {
      run: async (options = {}) => {
        assertInvariant(!isRunning, 'a binding runs once at a time');
        isRunning = true;
        this.#runningCount++;
        try {
          await (this.#queue === undefined ? call(options) : this.#queue.run(() => call(options)));
        } finally {
          isRunning = false;
          this.#runningCount--;
        }
      },
      dispose: () => assertInvariant(!isRunning, 'a running binding is not disposed'),
    };
  }

  allocate(type: ElementType, shape: readonly number[]): OrtValue {
    assertInvariant(this.#session !== null, 'a disposed session allocates nothing');
    const { api, memoryInfo } = this.#context;
    if (this.device === 'cpu' || this.#queue === undefined) {
      const data = new ELEMENT_TYPES[type].array(countElements(shape));
      return new NativeTensor(api, memoryInfo, { type, shape }, data);
    }
    return this.#memory().allocate(type, shape);
  }

  view(value: OrtValue, shape: readonly number[]): OrtValue {
    const whole = toNativeValue(value);
    assertInvariant(countElements(shape) <= countElements(whole.shape), 'a view is no larger than its value');
    if (!(whole instanceof NativeTensor)) return this.#memory().view(whole, shape);
    const { api, memoryInfo } = this.#context;
    const data = whole.data.subarray(0, countElements(shape));
    return new NativeTensor(api, memoryInfo, { type: whole.type, shape }, data);
  }

  dispose(): void {
    if (this.#session === null) return;
    assertInvariant(this.#runningCount === 0, 'a running session is not disposed');
    this.#deviceMemory?.dispose();
    this.#context.api.functions.releaseSession(this.#session);
    this.#session = null;
    this.#weights?.dispose();
  }

  #memory(): DeviceMemory {
    const { device } = this;
    const session = this.#session;
    const queue = this.#queue;
    assertInvariant(
      session !== null && device !== 'cpu' && queue !== undefined,
      'a session on a device is open',
    );
    const { api, env, memoryInfo: processMemory } = this.#context;
    this.#deviceMemory ??= new DeviceMemory({ api, env, device, processMemory, session, queue });
    return this.#deviceMemory;
  }

  #nameAddresses(names: Iterable<string>): BigUint64Array {
    return BigUint64Array.from(names, name => koffi.address(this.#nameBytes.get(name)));
  }
}
