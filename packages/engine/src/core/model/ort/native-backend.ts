// OrtBackend over ONNX Runtime's C API. One `Run` a step on prepared pointers, on a thread of koffi's, so the
// event loop stays free; outputs land in the caller's arrays without any copy, which is what makes a cache that
// is updated in place cheap.
//
// Memory rule: an OrtValue keeps the bare address of a typed array. A NativeTensor holds that array, a binding
// holds its tensors, and the runner holds its bindings, so nothing is collected while native code may look at it.

import koffi from 'koffi';
import { assertInvariant, EngineError } from '../../../errors.ts';
import {
  type ElementArray,
  type ElementType,
  type OrtBackend,
  type OrtBinding,
  type OrtSession,
  type OrtSessionOptions,
  type OrtTensor,
  SPIN_MICROSECONDS,
} from './backend.ts';
import { checkStatus, type Handle, loadCApi, type OrtCApi } from './c-api.ts';
import { checkNames } from './check-names.ts';
import { checkTensor, ELEMENT_TYPES } from './element-types.ts';
import { findOrtLibrary } from './find-library.ts';

/** Nothing on the console: warnings are about optimisations, and every error comes back as a status. */
const LOG_LEVEL_FATAL = 4;
const ARENA_ALLOCATOR = 1;
const DEFAULT_MEMORY = 0;
const NO_RUN_OPTIONS = 0n;

/** Throws: when the platform has no prebuilt FFI or library, or the library has another version. */
export function createNativeBackend(): OrtBackend {
  const library = findOrtLibrary();
  return new NativeBackend(loadCApi(library.file, library.version));
}

class NativeBackend implements OrtBackend {
  readonly name = 'native';
  readonly version: string;
  readonly #api: OrtCApi;
  /** Lives as long as the process: ONNX Runtime's environment is one per process and shared. */
  readonly #env: Handle;
  readonly #cpuMemory: Handle;
  readonly #allocator: Handle;

  constructor(api: OrtCApi) {
    const { functions } = api;
    this.#api = api;
    this.version = api.version;
    this.#env = receive(api, 'engine_failed', 'Starting ONNX Runtime', out =>
      functions.createEnv(LOG_LEVEL_FATAL, 'ortler', out),
    );
    this.#cpuMemory = receive(api, 'engine_failed', 'Describing memory', out =>
      functions.createCpuMemoryInfo(ARENA_ALLOCATOR, DEFAULT_MEMORY, out),
    );
    this.#allocator = receive(api, 'engine_failed', 'Getting the allocator', out =>
      functions.getAllocatorWithDefaultOptions(out),
    );
  }

  async createSession(model: string | Uint8Array, options: OrtSessionOptions): Promise<OrtSession> {
    const { functions } = this.#api;
    const sessionOptions = receive(this.#api, 'engine_failed', 'Creating session options', out =>
      functions.createSessionOptions(out),
    );
    try {
      const check = (status: number | bigint): void =>
        checkStatus(functions, status, 'engine_failed', 'Setting a session option');
      check(functions.setIntraOpNumThreads(sessionOptions, options.threadCount));
      const configure = (key: string, value: string): void =>
        check(functions.addSessionConfigEntry(sessionOptions, `session.intra_op.${key}`, value));
      configure('allow_spinning', options.spin ? '1' : '0');
      if (options.spin) configure('spin_duration_us', String(SPIN_MICROSECONDS));
      const doing = typeof model === 'string' ? `Loading ${model}` : 'Loading a graph';
      const session = receive(this.#api, 'model_invalid', doing, out =>
        typeof model === 'string'
          ? functions.createSession(this.#env, model, sessionOptions, out)
          : functions.createSessionFromArray(this.#env, model, model.byteLength, sessionOptions, out),
      );
      return new NativeSession(this.#api, session, this.#allocator);
    } finally {
      functions.releaseSessionOptions(sessionOptions);
    }
  }

  createTensor(type: ElementType, shape: readonly number[], data: ElementArray): OrtTensor {
    checkTensor(type, shape, data);
    return new NativeTensor(this.#api, this.#cpuMemory, type, shape, data);
  }
}

class NativeTensor implements OrtTensor {
  readonly type: ElementType;
  readonly shape: readonly number[];
  readonly data: ElementArray;
  readonly #api: OrtCApi;
  #value: Handle | null;

  constructor(
    api: OrtCApi,
    memoryInfo: Handle,
    type: ElementType,
    shape: readonly number[],
    data: ElementArray,
  ) {
    // Reading `buffer` moves a small array out of V8's heap, where a collection could move it.
    assertInvariant(data.buffer instanceof ArrayBuffer, 'tensors live in plain memory');
    this.#api = api;
    this.type = type;
    this.shape = shape;
    this.data = data;
    const shape64 = BigInt64Array.from(shape, BigInt);
    const { code } = ELEMENT_TYPES[type];
    this.#value = receive(api, 'engine_failed', 'Creating a tensor', out =>
      api.functions.createTensorWithData(memoryInfo, data, data.byteLength, shape64, shape.length, code, out),
    );
  }

  get isDisposed(): boolean {
    return this.#value === null;
  }

  get value(): Handle {
    assertInvariant(this.#value !== null, 'a disposed tensor is not used');
    return this.#value;
  }

  dispose(): void {
    if (this.#value === null) return;
    this.#api.functions.releaseValue(this.#value);
    this.#value = null;
  }
}

class NativeSession implements OrtSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  readonly #api: OrtCApi;
  /** Zero-terminated names by name; their addresses are handed to every call. */
  readonly #nameBytes = new Map<string, Uint8Array>();
  #session: Handle | null;
  #runningCount = 0;

  constructor(api: OrtCApi, session: Handle, allocator: Handle) {
    const { functions } = api;
    this.#api = api;
    this.#session = session;
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
          'engine_failed',
          'Freeing a name',
        );
        return text;
      });
    };
    this.inputNames = read(functions.sessionGetInputCount, functions.sessionGetInputName);
    this.outputNames = read(functions.sessionGetOutputCount, functions.sessionGetOutputName);
    for (const name of [...this.inputNames, ...this.outputNames])
      this.#nameBytes.set(name, Buffer.from(`${name}\0`));
  }

  bind(inputs: ReadonlyMap<string, OrtTensor>, outputs: ReadonlyMap<string, OrtTensor>): OrtBinding {
    checkNames(this, inputs, outputs);
    const inputTensors = [...inputs.values()].map(toNativeTensor);
    const outputTensors = [...outputs.values()].map(toNativeTensor);
    const inputNames = this.#nameAddresses(inputs.keys());
    const outputNames = this.#nameAddresses(outputs.keys());
    const inputValues = BigUint64Array.from(inputTensors, tensor => tensor.value);
    const outputValues = BigUint64Array.from(outputTensors, tensor => tensor.value);
    const tensors = [...inputTensors, ...outputTensors];
    const { functions } = this.#api;
    let isRunning = false;
    const run = (): Promise<void> =>
      new Promise((resolve, reject) => {
        assertInvariant(!isRunning, 'a binding runs once at a time');
        assertInvariant(this.#session !== null, 'a disposed session is not run');
        for (const tensor of tensors) assertInvariant(!tensor.isDisposed, 'a disposed tensor is not used');
        isRunning = true;
        this.#runningCount++;
        functions.run.async(
          this.#session,
          NO_RUN_OPTIONS,
          inputNames,
          inputValues,
          inputValues.length,
          outputNames,
          outputValues.length,
          outputValues,
          (error, status) => {
            isRunning = false;
            this.#runningCount--;
            try {
              if (error !== null && error !== undefined) throw toCallError(error);
              checkStatus(functions, status, 'engine_failed', 'Running the model');
              resolve();
            } catch (failure) {
              reject(failure);
            }
          },
        );
      });
    return {
      run,
      dispose: () => assertInvariant(!isRunning, 'a running binding is not disposed'),
    };
  }

  dispose(): void {
    if (this.#session === null) return;
    assertInvariant(this.#runningCount === 0, 'a running session is not disposed');
    this.#api.functions.releaseSession(this.#session);
    this.#session = null;
  }

  #nameAddresses(names: Iterable<string>): BigUint64Array {
    return BigUint64Array.from(names, name => koffi.address(this.#nameBytes.get(name)));
  }
}

/** Calls a function that writes a handle or a count. Throws: `EngineError` with ONNX Runtime's message. */
function receive(
  api: OrtCApi,
  code: 'engine_failed' | 'model_invalid',
  doing: string,
  call: (out: BigUint64Array) => number | bigint,
): Handle {
  const out = new BigUint64Array(1);
  checkStatus(api.functions, call(out), code, doing);
  return out[0]!;
}

function toNativeTensor(tensor: OrtTensor): NativeTensor {
  assertInvariant(tensor instanceof NativeTensor, 'a tensor is used with the backend that made it');
  return tensor;
}

function toCallError(cause: unknown): EngineError {
  return new EngineError('engine_failed', 'The call of ONNX Runtime could not be made.', { cause });
}
