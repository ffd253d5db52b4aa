// The only door to ONNX Runtime. Two implementations: `native-backend.ts` (C API through FFI, updates the
// cache in place without copies) and `node-backend.ts` (onnxruntime-node's own API: the oracle and the
// fallback where no prebuilt FFI exists). `../../../testing/ort-backend-conformance.ts` holds both to this.

export type ElementType = 'float32' | 'float16' | 'int64' | 'int32' | 'uint8' | 'int8' | 'uint32' | 'bool';

export type ElementArray =
  | Float32Array
  | Uint16Array
  | BigInt64Array
  | Int32Array
  | Uint8Array
  | Int8Array
  | Uint32Array;

/** A view of memory with a shape. The array stays owned by the caller and is read and written in place. */
export interface OrtTensor {
  readonly type: ElementType;
  readonly shape: readonly number[];
  readonly data: ElementArray;
  /** Frees the runtime's handle, not the array. */
  dispose(): void;
}

export interface OrtSessionOptions {
  readonly threadCount: number;
  /** Threads wait for the next operator in a busy loop, for `SPIN_MICROSECONDS` at most, before they sleep. */
  readonly spin: boolean;
}

/**
 * Longer than nearly every gap between two operators of a step, shorter than what other programs feel. Two threads that
 * share two cores with other work are as fast with it as threads that sleep, where endless spinning is half as fast.
 */
export const SPIN_MICROSECONDS = 200;

/** A prepared call: fixed inputs and outputs, run any number of times while the arrays change. */
export interface OrtBinding {
  /** Runs the model once. Outputs are in their arrays when the promise resolves. */
  run(): Promise<void>;
  dispose(): void;
}

export interface OrtSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  /** Prepares a call. An input and an output may be the same tensor: the operator then updates it in place. */
  bind(inputs: ReadonlyMap<string, OrtTensor>, outputs: ReadonlyMap<string, OrtTensor>): OrtBinding;
  dispose(): void;
}

export interface OrtBackend {
  readonly name: 'native' | 'node';
  /** Version of the loaded ONNX Runtime library. */
  readonly version: string;
  /** Loads a graph from a file (external data beside it) or from bytes. Throws: `model_invalid`. */
  createSession(model: string | Uint8Array, options: OrtSessionOptions): Promise<OrtSession>;
  createTensor(type: ElementType, shape: readonly number[], data: ElementArray): OrtTensor;
}
