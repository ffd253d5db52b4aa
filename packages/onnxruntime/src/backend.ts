// The interface to ONNX Runtime. Two implementations: `native-backend.ts` (C API through FFI, updates tensors in place) and
// `node-backend.ts` (the API of onnxruntime-node: oracle of the tests, and fallback where FFI does not load).
// `testing/ort-backend-conformance.ts` tests both.

export type ElementType = 'float32' | 'float16' | 'int64' | 'int32' | 'uint8' | 'int8' | 'uint32' | 'bool';

export type ElementArray =
  | Float32Array
  | Uint16Array
  | BigInt64Array
  | Int32Array
  | Uint8Array
  | Int8Array
  | Uint32Array;

/**
 * Where a session computes and keeps what it allocates. `webgpu` is the provider inside onnxruntime-node (Vulkan,
 * Direct3D or Metal underneath), `cuda` the one whose libraries are installed separately.
 */
export type OrtDevice = 'cpu' | 'webgpu' | 'cuda';

/** Memory with a shape, in the process or on a device. */
export interface OrtValue {
  /** `cpu` is the memory of the process. */
  readonly device: OrtDevice;
  readonly type: ElementType;
  readonly shape: readonly number[];
  /** Frees the runtime's handle, and memory that the runtime allocated. */
  dispose(): void;
}

/** A view of the process's memory. The array stays owned by the caller and is read and written in place. */
export interface OrtTensor extends OrtValue {
  readonly data: ElementArray;
}

export interface OrtSessionOptions {
  readonly threadCount: number;
  /** Threads wait for the next operator in a busy loop, for `SPIN_MICROSECONDS` at most, before they sleep. */
  readonly spin: boolean;
  /**
   * Data file beside the graph that is read into memory in huge pages instead of being mapped. It is read as a whole, so there
   * must be room for it. The stock binding maps it nevertheless.
   */
  readonly weightsFile?: string | undefined;
  /**
   * Weights of `weightsFile` whose names begin like this stay mapped in the file: tables of which a session
   * reads few rows, whose other pages then take no memory, and weights for which memory is too short.
   */
  readonly mappedWeights?: readonly string[] | undefined;
  /** Default: `cpu`. Sessions on one device of a process share it, and their values. */
  readonly device?: OrtDevice;
  /**
   * Only for `webgpu`: GroupQueryAttention keeps keys and values as int8 with a float32 scale for each token and head, in caches whose
   * rows are declared as `(headSize + 4) / 2` float16. Default: false.
   */
  readonly int8KvCache?: boolean;
}

/** Facts about a device, read without running anything on it. Absent: unknown. */
export interface OrtDeviceFacts {
  readonly device: OrtDevice;
  /** The driver's name for it: `NVIDIA GeForce RTX 4090`. */
  readonly name?: string;
  /** A software driver, which computes on the CPU: correct, but slower than a `cpu` session. */
  readonly isSoftware?: boolean;
  /** The device's own memory, or the memory that it shares with the CPU. */
  readonly memoryBytes?: number;
  /** Largest part of one tensor that a kernel can reach. */
  readonly maxTensorBytes?: number;
}

/**
 * Longer than nearly every gap between two operators of a step, shorter than what other programs feel. Two threads that
 * share two cores with other work are as fast with it as threads that sleep, where endless spinning is half as fast.
 */
export const SPIN_MICROSECONDS = 200;

export interface OrtRunOptions {
  /**
   * The caller's thread has nothing else to do meanwhile: on the CPU the native binding then computes in it. The hand-over to another
   * thread and back takes up to a tenth of a short step. Default: false.
   */
  readonly mayBlock?: boolean;
}

/** Bound inputs and outputs (IO binding), run any number of times while the arrays change. */
export interface OrtBinding {
  /** Runs the model once. Outputs are in their arrays when the promise resolves. */
  run(options?: OrtRunOptions): Promise<void>;
  dispose(): void;
}

export interface OrtSession {
  readonly device: OrtDevice;
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  /** Operators of a device session that fell back to the CPU, such as `Softmax /lm_head/Softmax`; each costs copies. */
  readonly cpuOperators: readonly string[];
  /**
   * Prepares a call. An input and an output may be the same value: the operator then updates it in place.
   * Values may be in the process, or on the session's device, where another session may have allocated them.
   * Values in the process are copied to the device, or back, at each run.
   */
  bind(inputs: ReadonlyMap<string, OrtValue>, outputs: ReadonlyMap<string, OrtValue>): OrtBinding;
  /**
   * Memory on the session's device, with undefined content. It must be disposed before its session, and
   * neither may be disposed while something runs on the device. Throws: `runtime_failed` when the device is
   * out of memory.
   */
  allocate(type: ElementType, shape: readonly number[]): OrtValue;
  /**
   * The first elements of a value that a session of this device allocated, as a value of that shape in the
   * same memory. It must be disposed before that one.
   */
  view(value: OrtValue, shape: readonly number[]): OrtValue;
  dispose(): void;
}

/** Instruction sets that the operators of `@ortler/kernels` are compiled for. */
export type KernelIsa = 'amx' | 'avx512' | 'avxvnni' | 'avx2' | 'neon';

/** `auto`: the best instruction set of this CPU. `off`: sessions do not know the operators. */
export type KernelChoice = 'auto' | 'off' | KernelIsa;

export interface OrtBackendOptions {
  /** Default: `auto`. The others are for tests and measurements. */
  readonly kernels?: KernelChoice;
}

export type KernelsInUse =
  | { readonly isa: KernelIsa }
  /** Why graphs with these operators cannot be run: a clause without a full stop. */
  | { readonly missing: string };

export interface OrtBackend {
  readonly name: 'native' | 'node';
  /** Version of the loaded ONNX Runtime library. */
  readonly version: string;
  /** The operators of `@ortler/kernels` in sessions on the CPU. */
  readonly kernels: KernelsInUse;
  /**
   * Loads a graph from a file (external data beside it) or from bytes.
   * Throws: `model_invalid`; `runtime_failed` when the device cannot be used, with the reason.
   */
  createSession(model: string | Uint8Array, options: OrtSessionOptions): Promise<OrtSession>;
  createTensor(type: ElementType, shape: readonly number[], data: ElementArray): OrtTensor;
  /**
   * Zeros for large arrays of tensors. With the native binding they begin at a huge page, and are in huge pages where the system
   * has them. Pages that nothing touches take no memory. Throws: a `RangeError` where that much cannot be
   * reserved.
   */
  allocateZeros(byteLength: number): Uint8Array<ArrayBuffer>;
  /** Copies between values of the same type and shape, wherever they are. Mutates: `target`. */
  copy(source: OrtValue, target: OrtValue): Promise<void>;
  /** Asks the driver, not ONNX Runtime; says less where the driver does. */
  describeDevice(device: OrtDevice): OrtDeviceFacts;
}
