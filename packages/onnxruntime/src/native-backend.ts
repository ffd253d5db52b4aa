// OrtBackend over ONNX Runtime's C API. Outputs land in the caller's arrays, or stay on the device, without any copy,
// which is what makes a cache that is updated in place cheap.
//
// Memory rule: an OrtValue keeps the bare address of a typed array. A NativeTensor holds that array, a binding
// holds its tensors, and the runner holds its bindings, so nothing is collected while native code may look at it.

import {
  type ElementArray,
  type ElementType,
  type KernelsInUse,
  type OrtBackend,
  type OrtBackendOptions,
  type OrtDevice,
  type OrtDeviceFacts,
  type OrtSession,
  type OrtSessionOptions,
  type OrtTensor,
  type OrtValue,
  SPIN_MICROSECONDS,
} from './backend.ts';
import { checkStatus, type Handle, loadCApi, type OrtCApi, receive, receiveStatus } from './c-api.ts';
import { describeDevice } from './device-facts.ts';
import { DeviceQueue } from './device-queue.ts';
import { assertSameKind, checkTensor, copyArray } from './element-types.ts';
import { assertInvariant } from './errors.ts';
import { type Accelerator, appendDevice } from './execution-provider.ts';
import { findOrtLibrary } from './find-library.ts';
import { allocateInHugePages } from './huge-pages.ts';
import { type KernelOperators, loadKernelOperators } from './kernel-operators.ts';
import { NativeSession, type SessionContext } from './native-session.ts';
import { NativeTensor, type NativeValue, toNativeValue } from './native-value.ts';
import { PLACEMENT_SETTING } from './read-placement.ts';
import { WeightsMemory } from './weights-memory.ts';

/** Nothing on the console: warnings are about optimisations, and every error comes back as a status. */
const LOG_LEVEL_FATAL = 4;
const ARENA_ALLOCATOR = 1;
const DEFAULT_MEMORY = 0;
const NO_STREAM = 0n;

/** By device: backends of a process share them, as they share the library. */
const QUEUES: Readonly<Record<Accelerator, DeviceQueue>> = {
  webgpu: new DeviceQueue(),
  cuda: new DeviceQueue(),
};

/**
 * Throws: when the platform has no prebuilt FFI or library, or the library has another version; `runtime_failed` when
 * `options.kernels` names an instruction set that cannot be used.
 */
export function createNativeBackend({ kernels = 'auto' }: OrtBackendOptions = {}): OrtBackend {
  const library = findOrtLibrary();
  const api = loadCApi(library.file, library.version);
  return new NativeBackend(api, loadKernelOperators(api, kernels));
}

class NativeBackend implements OrtBackend {
  readonly name = 'native';
  readonly version: string;
  readonly kernels: KernelsInUse;
  readonly #kernelsDomain: Handle | undefined;
  readonly #context: SessionContext;

  constructor(api: OrtCApi, operators: KernelOperators) {
    const { functions } = api;
    this.version = api.version;
    const isMissing = 'missing' in operators;
    this.kernels = isMissing ? operators : { isa: operators.isa };
    this.#kernelsDomain = isMissing ? undefined : operators.domain;
    this.#context = {
      api,
      // Lives as long as the process: ONNX Runtime's environment is one per process and shared.
      env: receive(api, 'runtime_failed', 'Starting ONNX Runtime', out =>
        functions.createEnv(LOG_LEVEL_FATAL, 'ortler', out),
      ),
      memoryInfo: receive(api, 'runtime_failed', 'Describing memory', out =>
        functions.createCpuMemoryInfo(ARENA_ALLOCATOR, DEFAULT_MEMORY, out),
      ),
      allocator: receive(api, 'runtime_failed', 'Getting the allocator', out =>
        functions.getAllocatorWithDefaultOptions(out),
      ),
    };
  }

  async createSession(model: string | Uint8Array, options: OrtSessionOptions): Promise<OrtSession> {
    const { device = 'cpu', weightsFile, mappedWeights } = options;
    const weights =
      typeof model === 'string' && weightsFile !== undefined
        ? await WeightsMemory.read(this.#context, model, { weightsFile, mappedWeights })
        : undefined;
    const create = (): OrtSession => this.#createSession(model, options, device, weights);
    return device === 'cpu' ? create() : await QUEUES[device].run(create);
  }

  createTensor(type: ElementType, shape: readonly number[], data: ElementArray): OrtTensor {
    checkTensor(type, shape, data);
    const { api, memoryInfo } = this.#context;
    return new NativeTensor(api, memoryInfo, { type, shape }, data);
  }

  allocateZeros(byteLength: number): Uint8Array<ArrayBuffer> {
    return allocateInHugePages(byteLength);
  }

  async copy(source: OrtValue, target: OrtValue): Promise<void> {
    const [from, to] = [toNativeValue(source), toNativeValue(target)];
    if (from instanceof NativeTensor && to instanceof NativeTensor) return copyArray(from, to);
    await this.#copy(from, to);
  }

  describeDevice(device: OrtDevice): OrtDeviceFacts {
    return describeDevice(device);
  }

  /** At least one side is on a device. */
  async #copy(source: NativeValue, target: NativeValue): Promise<void> {
    assertSameKind(source, target);
    const [from, to] = [source.device, target.device];
    const [sources, targets] = [BigUint64Array.of(source.handle), BigUint64Array.of(target.handle)];
    const { api, env } = this.#context;
    const copy = (): Promise<void> =>
      receiveStatus(api, `Copying from "${from}" to "${to}"`, done =>
        api.functions.copyTensors.async(env, sources, targets, NO_STREAM, 1, done),
      );
    const device = from === 'cpu' ? to : from;
    assertInvariant(device !== 'cpu', 'a value that is not an array is on a device');
    await QUEUES[device].run(copy);
    // Also keeps both alive until here.
    assertInvariant(!source.isDisposed && !target.isDisposed, 'a tensor is not disposed while it is copied');
  }

  #createSession(
    model: string | Uint8Array,
    options: OrtSessionOptions,
    device: OrtDevice,
    weights: WeightsMemory | undefined,
  ): OrtSession {
    const { api, env } = this.#context;
    const { functions } = api;
    const sessionOptions = receive(api, 'runtime_failed', 'Creating session options', out =>
      functions.createSessionOptions(out),
    );
    try {
      const check = (status: number | bigint): void =>
        checkStatus(functions, status, 'runtime_failed', 'Setting a session option');
      check(functions.setIntraOpNumThreads(sessionOptions, options.threadCount));
      const configure = (key: string, value: string): void =>
        check(functions.addSessionConfigEntry(sessionOptions, `session.intra_op.${key}`, value));
      configure('allow_spinning', options.spin ? '1' : '0');
      if (options.spin) configure('spin_duration_us', String(SPIN_MICROSECONDS));
      if (device === 'cpu' && this.#kernelsDomain !== undefined)
        check(functions.addCustomOpDomain(sessionOptions, this.#kernelsDomain));
      if (device !== 'cpu') {
        check(functions.addSessionConfigEntry(sessionOptions, PLACEMENT_SETTING, '1'));
        appendDevice(api, sessionOptions, device, options);
      }
      weights?.addTo(sessionOptions);
      const doing = typeof model === 'string' ? `Loading ${model}` : 'Loading a graph';
      const session = receive(api, 'model_invalid', doing, out =>
        typeof model === 'string'
          ? functions.createSession(env, model, sessionOptions, out)
          : functions.createSessionFromArray(env, model, model.byteLength, sessionOptions, out),
      );
      const queue = device === 'cpu' ? undefined : QUEUES[device];
      return new NativeSession(this.#context, session, { device, queue, weights });
    } catch (cause) {
      weights?.dispose();
      throw cause;
    } finally {
      functions.releaseSessionOptions(sessionOptions);
    }
  }
}
