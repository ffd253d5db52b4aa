// ONNX Runtime's C API through koffi: where its functions are in the table and what they take. Handles are
// addresses (bigint) and nothing here knows what they mean; `native-backend.ts` does.
//
// `OrtGetApiBase()->GetApi(version)` returns a table of function pointers that is append-only, so a position
// never changes between releases. Source: onnxruntime_c_api.h.

import koffi, { type LibraryHandle } from 'koffi';
import { OrtError, type OrtErrorCode } from './errors.ts';

/** Address of something that ONNX Runtime owns. */
export type Handle = bigint;
/** Memory whose address the call receives; alive for the call at least. */
type Memory = ArrayBufferView;
/** Null (zero) when the call succeeded. Must be released otherwise. */
type Status = number | bigint;

/** API version asked for: every function used here is as old or older. */
const API_VERSION = 27;

/**
 * koffi runs a call on a stack of its own, 128 KiB for asynchronous calls by default. Kernels keep work buffers
 * there (a float32 matrix product needs more than 64 KiB), and with one thread all of them run on the calling one.
 * 8 MiB is what a thread has on Linux; only the pages in use cost memory.
 */
const STACK_BYTES = 8 * 2 ** 20;

/**
 * Libraries by file, opened once. koffi closes a library when its handle is collected, and the functions would be
 * gone with it; these handles are never let go, as ONNX Runtime's environment lives as long as the process.
 */
const OPENED = new Map<string, { readonly library: LibraryHandle; readonly api: OrtCApi }>();

const STATUS = 'uintptr_t';
const HANDLE = 'uintptr_t';
const MEMORY = 'void *';
/** File names are wide strings on Windows only. */
const FILE_NAME = process.platform === 'win32' ? 'str16' : 'str';

/** Position in the function table, result type, argument types. */
const FUNCTIONS = {
  getErrorMessage: [2, 'str', [HANDLE]],
  createEnv: [3, STATUS, ['int', 'str', MEMORY]],
  createSession: [7, STATUS, [HANDLE, FILE_NAME, HANDLE, MEMORY]],
  createSessionFromArray: [8, STATUS, [HANDLE, MEMORY, 'size_t', HANDLE, MEMORY]],
  run: [9, STATUS, [HANDLE, HANDLE, MEMORY, MEMORY, 'size_t', MEMORY, 'size_t', MEMORY]],
  createSessionOptions: [10, STATUS, [MEMORY]],
  createCustomOpDomain: [26, STATUS, ['str', MEMORY]],
  customOpDomainAdd: [27, STATUS, [HANDLE, HANDLE]],
  addCustomOpDomain: [28, STATUS, [HANDLE, HANDLE]],
  setIntraOpNumThreads: [24, STATUS, [HANDLE, 'int']],
  sessionGetInputCount: [30, STATUS, [HANDLE, MEMORY]],
  sessionGetOutputCount: [31, STATUS, [HANDLE, MEMORY]],
  sessionGetInputName: [36, STATUS, [HANDLE, 'size_t', HANDLE, MEMORY]],
  sessionGetOutputName: [37, STATUS, [HANDLE, 'size_t', HANDLE, MEMORY]],
  createTensor: [48, STATUS, [HANDLE, MEMORY, 'size_t', 'int', MEMORY]],
  createTensorWithData: [49, STATUS, [HANDLE, MEMORY, 'size_t', MEMORY, 'size_t', 'int', MEMORY]],
  getTensorMutableData: [51, STATUS, [HANDLE, MEMORY]],
  createMemoryInfo: [68, STATUS, ['str', 'int', 'int', 'int', MEMORY]],
  createCpuMemoryInfo: [69, STATUS, ['int', 'int', MEMORY]],
  allocatorFree: [76, STATUS, [HANDLE, HANDLE]],
  getAllocatorWithDefaultOptions: [78, STATUS, [MEMORY]],
  releaseStatus: [93, 'void', [HANDLE]],
  releaseMemoryInfo: [94, 'void', [HANDLE]],
  releaseSession: [95, 'void', [HANDLE]],
  releaseValue: [96, 'void', [HANDLE]],
  releaseSessionOptions: [100, 'void', [HANDLE]],
  addSessionConfigEntry: [130, STATUS, [HANDLE, 'str', 'str']],
  createAllocator: [131, STATUS, [HANDLE, HANDLE, MEMORY]],
  releaseAllocator: [132, 'void', [HANDLE]],
  addInitializer: [150, STATUS, [HANDLE, 'str', HANDLE]],
  appendCudaProvider: [204, STATUS, [HANDLE, HANDLE]],
  createCudaProviderOptions: [205, STATUS, [MEMORY]],
  releaseCudaProviderOptions: [208, 'void', [HANDLE]],
  appendProvider: [216, STATUS, [HANDLE, 'str', MEMORY, MEMORY, 'size_t']],
  copyTensors: [386, STATUS, [HANDLE, MEMORY, MEMORY, HANDLE, 'size_t']],
  sessionGetPlacement: [407, STATUS, [HANDLE, MEMORY, MEMORY]],
  placementGetProvider: [408, STATUS, [HANDLE, MEMORY]],
  placementGetNodes: [409, STATUS, [HANDLE, MEMORY, MEMORY]],
  placedNodeGetName: [410, STATUS, [HANDLE, MEMORY]],
  placedNodeGetType: [412, STATUS, [HANDLE, MEMORY]],
} as const satisfies Record<string, readonly [number, string, readonly string[]]>;

type CopyArguments = [env: Handle, sources: Memory, targets: Memory, stream: Handle, count: number];

export type RunArguments = [
  session: Handle,
  runOptions: Handle,
  inputNames: Memory,
  inputs: Memory,
  inputCount: number,
  outputNames: Memory,
  outputCount: number,
  outputs: Memory,
];

/** Runs on a thread of koffi's; the callback comes back on the event loop. */
type Asynchronous<Arguments extends readonly unknown[]> = ((...args: Arguments) => Status) & {
  async(...args: [...Arguments, callback: (error: unknown, status: Status) => void]): void;
};

/** The functions in use, typed. A trailing `Memory` argument receives the result. */
export interface OrtFunctions {
  getErrorMessage(status: Status): string;
  createEnv(logLevel: number, name: string, env: Memory): Status;
  createSession(env: Handle, file: string, options: Handle, session: Memory): Status;
  createSessionFromArray(
    env: Handle,
    model: Memory,
    length: number,
    options: Handle,
    session: Memory,
  ): Status;
  run: Asynchronous<RunArguments>;
  createSessionOptions(options: Memory): Status;
  setIntraOpNumThreads(options: Handle, threadCount: number): Status;
  createCustomOpDomain(name: string, domain: Memory): Status;
  customOpDomainAdd(domain: Handle, operator: Handle): Status;
  addCustomOpDomain(options: Handle, domain: Handle): Status;
  sessionGetInputCount(session: Handle, count: Memory): Status;
  sessionGetOutputCount(session: Handle, count: Memory): Status;
  sessionGetInputName(session: Handle, index: number, allocator: Handle, name: Memory): Status;
  sessionGetOutputName(session: Handle, index: number, allocator: Handle, name: Memory): Status;
  createTensor(allocator: Handle, shape: Memory, rank: number, elementType: number, value: Memory): Status;
  /** Keeps the address of `data`, not a copy. */
  createTensorWithData(
    memoryInfo: Handle,
    data: Memory | Handle,
    byteLength: number,
    shape: Memory,
    rank: number,
    elementType: number,
    value: Memory,
  ): Status;
  getTensorMutableData(value: Handle, data: Memory): Status;
  createMemoryInfo(
    name: string,
    allocatorType: number,
    deviceId: number,
    memoryType: number,
    memoryInfo: Memory,
  ): Status;
  createCpuMemoryInfo(allocatorType: number, memoryType: number, memoryInfo: Memory): Status;
  allocatorFree(allocator: Handle, memory: Handle): Status;
  getAllocatorWithDefaultOptions(allocator: Memory): Status;
  releaseStatus(status: Status): void;
  releaseMemoryInfo(memoryInfo: Handle): void;
  releaseSession(session: Handle): void;
  releaseValue(value: Handle): void;
  releaseSessionOptions(options: Handle): void;
  addSessionConfigEntry(options: Handle, key: string, value: string): Status;
  createAllocator(session: Handle, memoryInfo: Handle, allocator: Memory): Status;
  releaseAllocator(allocator: Handle): void;
  /** Uses the value where it is; it must live as long as the session. */
  addInitializer(options: Handle, name: string, value: Handle): Status;
  appendCudaProvider(options: Handle, cudaOptions: Handle): Status;
  createCudaProviderOptions(cudaOptions: Memory): Status;
  releaseCudaProviderOptions(cudaOptions: Handle): void;
  appendProvider(
    options: Handle,
    name: string,
    keys: Memory | null,
    values: Memory | null,
    count: number,
  ): Status;
  copyTensors: Asynchronous<CopyArguments>;
  sessionGetPlacement(session: Handle, parts: Memory, count: Memory): Status;
  placementGetProvider(part: Handle, name: Memory): Status;
  placementGetNodes(part: Handle, nodes: Memory, count: Memory): Status;
  placedNodeGetName(node: Handle, name: Memory): Status;
  placedNodeGetType(node: Handle, type: Memory): Status;
}

export interface OrtCApi {
  readonly functions: OrtFunctions;
  /** Version of the loaded library. */
  readonly version: string;
}

/**
 * Opens the library, unless it is open already, and reads its function table.
 * Throws: when the file cannot be loaded or is not the expected version.
 */
export function loadCApi(libraryFile: string, expectedVersion: string): OrtCApi {
  const opened = OPENED.get(libraryFile);
  if (opened !== undefined) return opened.api;
  setStackSize();
  const library = koffi.load(libraryFile);
  const api = readCApi(library, libraryFile, expectedVersion);
  OPENED.set(libraryFile, { library, api });
  return api;
}

/** Possible only before koffi has opened its first library in this thread. */
export function setStackSize(): void {
  if (koffi.config().async_stack_size !== STACK_BYTES)
    koffi.config({ sync_stack_size: STACK_BYTES, async_stack_size: STACK_BYTES });
}

function readCApi(library: LibraryHandle, libraryFile: string, expectedVersion: string): OrtCApi {
  const base: unknown = library.func('OrtGetApiBase', HANDLE, [])();
  const [getApi, getVersionString] = decodeAddresses(base, 2);
  const version: unknown = koffi.call(getVersionString, koffi.proto('str', []));
  if (version !== expectedVersion) {
    throw new Error(`${libraryFile} is ONNX Runtime ${String(version)}; expected ${expectedVersion}.`);
  }
  const table: unknown = koffi.call(getApi, koffi.proto(HANDLE, ['uint32_t']), API_VERSION);
  const positions = Object.values(FUNCTIONS).map(([position]) => position);
  const addresses = decodeAddresses(table, Math.max(...positions) + 1);
  const functions = Object.fromEntries(
    Object.entries(FUNCTIONS).map(([name, [position, result, parameters]]) => [
      name,
      koffi.decode(addresses[position], koffi.proto(result, [...parameters])),
    ]),
  );
  return { functions: functions as unknown as OrtFunctions, version: expectedVersion };
}

/**
 * Calls a function that writes a handle or a count. Throws: `OrtError` with ONNX Runtime's message.
 */
export function receive(
  api: OrtCApi,
  code: 'runtime_failed' | 'model_invalid',
  doing: string,
  call: (out: BigUint64Array) => number | bigint,
): Handle {
  const out = new BigUint64Array(1);
  checkStatus(api.functions, call(out), code, doing);
  return out[0]!;
}

/** Awaits a call on a thread of koffi's. Throws: as `receive`. */
export function receiveStatus(
  { functions }: OrtCApi,
  doing: string,
  call: (done: (error: unknown, status: Status) => void) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    call((error, status) => {
      try {
        if (error !== null && error !== undefined) {
          const message = 'The call to ONNX Runtime could not be made.';
          throw new OrtError('runtime_failed', message, { cause: error });
        }
        checkStatus(functions, status, 'runtime_failed', doing);
        resolve();
      } catch (failure) {
        reject(failure);
      }
    });
  });
}

/** Throws: an `OrtError` with ONNX Runtime's own message when the status is not null. Releases the status. */
export function checkStatus(
  functions: OrtFunctions,
  status: Status,
  code: OrtErrorCode,
  doing: string,
): void {
  if (BigInt(status) === 0n) return;
  const message = functions.getErrorMessage(status);
  functions.releaseStatus(status);
  throw new OrtError(code, `${doing}: ${message}`);
}

function decodeAddresses(pointer: unknown, count: number): bigint[] {
  if (typeof pointer !== 'bigint' && typeof pointer !== 'number') throw new Error('Not an address.');
  if (BigInt(pointer) === 0n) throw new Error(`The library has no API of version ${API_VERSION}.`);
  const values = koffi.decode(BigInt(pointer), 'uintptr_t', count) as Iterable<number | bigint>;
  return Array.from(values, value => BigInt(value));
}
