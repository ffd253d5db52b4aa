// OrtBackend over onnxruntime-node's own JavaScript API: the oracle in tests, and what runs where no prebuilt
// FFI exists. It blocks the event loop for the whole call and copies every output, the cache included. It has no
// devices: its API cannot be given memory on one as an output.

import { encodeGraph, type GraphDescription } from '@ortler/onnx';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import {
  type ElementArray,
  type ElementType,
  type OrtBackend,
  type OrtBinding,
  type OrtDevice,
  type OrtDeviceFacts,
  type OrtSession,
  type OrtSessionOptions,
  type OrtTensor,
  type OrtValue,
  SPIN_MICROSECONDS,
} from './backend.ts';
import { checkNames } from './check-names.ts';
import { bytesOf, checkTensor, copyArray, countElements, ELEMENT_TYPES } from './element-types.ts';
import { assertInvariant, OrtError } from './errors.ts';
import { findOrtLibrary } from './find-library.ts';

/** As in the native backend. */
const LOG_LEVEL_FATAL = 4;

/** One node, `y = Identity(x)` over float32 `[n]`. */
const PROBE_GRAPH: GraphDescription = {
  inputs: [{ name: 'x', type: 'float32', shape: ['n'] }],
  outputs: [{ name: 'y', type: 'float32', shape: ['n'] }],
  nodes: [{ opType: 'Identity', inputs: ['x'], outputs: ['y'] }],
};

/**
 * onnxruntime-node fills the arrays of outputs that are passed in, and returns copies of them in new memory. The
 * first half is what the runner builds on, so it is tried once at the start; were it ever to stop, the copies
 * would be copied back at each step instead.
 */
export async function createNodeBackend(): Promise<OrtBackend> {
  return new NodeBackend(await fillsGivenOutputs());
}

async function fillsGivenOutputs(): Promise<boolean> {
  const session = await InferenceSession.create(encodeGraph(PROBE_GRAPH), toSessionOptions(1, false));
  const output = new Float32Array(1);
  await session.run(
    { x: new Tensor('float32', Float32Array.of(1), [1]) },
    { y: new Tensor('float32', output, [1]) },
  );
  await session.release();
  return output[0] === 1;
}

class NodeBackend implements OrtBackend {
  readonly name = 'node';
  readonly version = findOrtLibrary().version;
  readonly kernels = { missing: "onnxruntime-node's own API loads no operators" };
  readonly #fillsGivenOutputs: boolean;

  constructor(fillsOutputs: boolean) {
    this.#fillsGivenOutputs = fillsOutputs;
  }

  async createSession(model: string | Uint8Array, options: OrtSessionOptions): Promise<OrtSession> {
    assertCpu(options.device ?? 'cpu');
    const sessionOptions = toSessionOptions(options.threadCount, options.spin);
    try {
      const session =
        typeof model === 'string'
          ? await InferenceSession.create(model, sessionOptions)
          : await InferenceSession.create(model, sessionOptions);
      return new NodeSession(session, this.#fillsGivenOutputs);
    } catch (cause) {
      const doing = typeof model === 'string' ? `Loading ${model}` : 'Loading a graph';
      throw new OrtError('model_invalid', `${doing}: ${messageOf(cause)}`, { cause });
    }
  }

  createTensor(type: ElementType, shape: readonly number[], data: ElementArray): OrtTensor {
    checkTensor(type, shape, data);
    return createTensor(type, shape, data);
  }

  allocateZeros(byteLength: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(byteLength);
  }

  async copy(source: OrtValue, target: OrtValue): Promise<void> {
    const [from, to] = [toNodeTensor(source), toNodeTensor(target)];
    assertInvariant(!from.isDisposed && !to.isDisposed, 'a disposed tensor is not used');
    copyArray(from, to);
  }

  describeDevice(device: OrtDevice): OrtDeviceFacts {
    assertCpu(device);
    return { device };
  }
}

function assertCpu(device: OrtDevice): void {
  if (device === 'cpu') return;
  const message = `onnxruntime-node's own API keeps no tensors on devices, so it cannot use "${device}"; the native binding can.`;
  throw new OrtError('runtime_failed', message);
}

function createTensor(type: ElementType, shape: readonly number[], data: ElementArray): NodeTensor {
  if (type === 'float16') {
    // The package turns the array into a Float16Array, which its native half takes for an empty one.
    const message = "onnxruntime-node's own API cannot pass float16 tensors on this version of Node.";
    throw new OrtError('runtime_failed', message);
  }
  return new NodeTensor(type, shape, data);
}

class NodeTensor implements OrtTensor {
  readonly device = 'cpu';
  readonly type: ElementType;
  readonly shape: readonly number[];
  readonly data: ElementArray;
  readonly tensor: Tensor;
  isDisposed = false;

  constructor(type: ElementType, shape: readonly number[], data: ElementArray) {
    this.type = type;
    this.shape = shape;
    this.data = data;
    this.tensor = new Tensor(type, data as Tensor.DataType, shape);
  }

  dispose(): void {
    this.isDisposed = true;
  }
}

class NodeSession implements OrtSession {
  readonly device = 'cpu';
  readonly cpuOperators: readonly string[] = [];
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  readonly #session: InferenceSession;
  readonly #fillsGivenOutputs: boolean;
  #isDisposed = false;

  constructor(session: InferenceSession, fillsOutputs: boolean) {
    this.#session = session;
    this.#fillsGivenOutputs = fillsOutputs;
    this.inputNames = session.inputNames;
    this.outputNames = session.outputNames;
  }

  bind(inputs: ReadonlyMap<string, OrtValue>, outputs: ReadonlyMap<string, OrtValue>): OrtBinding {
    checkNames(this, inputs, outputs);
    const tensors = [...inputs.values(), ...outputs.values()].map(toNodeTensor);
    const feeds = toStockTensors(inputs);
    const fetches = toStockTensors(outputs);
    let isRunning = false;
    const run = async (): Promise<void> => {
      assertInvariant(!isRunning, 'a binding runs once at a time');
      assertInvariant(!this.#isDisposed, 'a disposed session is not run');
      for (const tensor of tensors) assertInvariant(!tensor.isDisposed, 'a disposed tensor is not used');
      isRunning = true;
      try {
        const results = await this.#session.run(feeds, fetches);
        if (!this.#fillsGivenOutputs) copyBack(results, outputs);
      } catch (cause) {
        throw new OrtError('runtime_failed', `Running the model: ${messageOf(cause)}`, { cause });
      } finally {
        isRunning = false;
      }
    };
    return {
      run,
      dispose: () => assertInvariant(!isRunning, 'a running binding is not disposed'),
    };
  }

  allocate(type: ElementType, shape: readonly number[]): OrtValue {
    return createTensor(type, shape, new ELEMENT_TYPES[type].array(countElements(shape)));
  }

  view(value: OrtValue, shape: readonly number[]): OrtValue {
    const { type, data } = toNodeTensor(value);
    return createTensor(type, shape, data.subarray(0, countElements(shape)));
  }

  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    void this.#session.release();
  }
}

function copyBack(results: InferenceSession.OnnxValueMapType, outputs: ReadonlyMap<string, OrtValue>): void {
  for (const [name, output] of outputs) {
    const copy = results[name]!.data as ElementArray;
    bytesOf(toNodeTensor(output).data).set(bytesOf(copy));
  }
}

function toStockTensors(tensors: ReadonlyMap<string, OrtValue>): Record<string, Tensor> {
  return Object.fromEntries([...tensors].map(([name, tensor]) => [name, toNodeTensor(tensor).tensor]));
}

function toNodeTensor(tensor: OrtValue): NodeTensor {
  assertInvariant(tensor instanceof NodeTensor, 'a tensor is used with the backend that made it');
  return tensor;
}

function toSessionOptions(threadCount: number, spin: boolean): InferenceSession.SessionOptions {
  return {
    executionProviders: ['cpu'],
    intraOpNumThreads: threadCount,
    logSeverityLevel: LOG_LEVEL_FATAL,
    extra: {
      session: {
        intra_op: spin
          ? { allow_spinning: '1', spin_duration_us: String(SPIN_MICROSECONDS) }
          : { allow_spinning: '0' },
      },
    },
  };
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
