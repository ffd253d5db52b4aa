// One operator of the kernels as a graph of its own: its constants, and calls with arrays.

import { type AttributeValue, type ElementType, encodeModel, GraphRecorder } from '@ortler/onnx';
import {
  type ElementArray,
  type KernelIsa,
  type OrtBackend,
  type OrtSession,
  type OrtTensor,
  selectBackend,
} from '@ortler/onnxruntime';

export interface OperatorInput {
  readonly name: string;
  readonly type: ElementType;
  readonly shape: readonly number[];
  /** A constant of the graph has its bytes here. */
  readonly content?: Uint8Array | undefined;
}

export interface OperatorGraph {
  readonly opType: string;
  /** Null: an optional input that is left out. */
  readonly inputs: readonly (OperatorInput | null)[];
  readonly outputs: readonly { readonly name: string; readonly type: ElementType; readonly rank: number }[];
  readonly attributes: Readonly<Record<string, AttributeValue>>;
}

export interface OperatorOptions {
  readonly isa: KernelIsa;
  /** Default: 2. */
  readonly threadCount?: number;
}

export interface CallValue {
  readonly type: ElementType;
  readonly shape: readonly number[];
  readonly data: ElementArray;
}

export type CallValues = Readonly<Record<string, CallValue>>;

export class OperatorSession implements Disposable {
  readonly #backend: OrtBackend;
  readonly #session: OrtSession;

  private constructor(backend: OrtBackend, session: OrtSession) {
    this.#backend = backend;
    this.#session = session;
  }

  static async create(
    graph: OperatorGraph,
    { isa, threadCount = 2 }: OperatorOptions,
  ): Promise<OperatorSession> {
    const { backend } = await selectBackend('native', { kernels: isa });
    const model = encodeOperator(graph);
    return new OperatorSession(backend, await backend.createSession(model, { threadCount, spin: false }));
  }

  /** Values with the same array among the inputs and outputs are one tensor. Mutates: the arrays of `outputs`. */
  async run(inputs: CallValues, outputs: CallValues): Promise<void> {
    const tensors = new Map<ElementArray, OrtTensor>();
    const toTensor = ({ type, shape, data }: CallValue): OrtTensor => {
      const tensor = tensors.get(data) ?? this.#backend.createTensor(type, shape, data);
      tensors.set(data, tensor);
      return tensor;
    };
    const bound = (values: CallValues): Map<string, OrtTensor> =>
      new Map(Object.entries(values).map(([name, value]) => [name, toTensor(value)]));
    const binding = this.#session.bind(bound(inputs), bound(outputs));
    try {
      await binding.run();
    } finally {
      binding.dispose();
      for (const tensor of tensors.values()) tensor.dispose();
    }
  }

  [Symbol.dispose](): void {
    this.#session.dispose();
  }
}

/** A constant of float32 numbers. */
export function floatConstant(name: string, shape: readonly number[], values: Float32Array): OperatorInput {
  const content = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return { name, type: 'float32', shape, content };
}

export function encodeOperator({ opType, inputs, outputs, attributes }: OperatorGraph): Uint8Array {
  const graph = new GraphRecorder();
  const placements = new Map<string, { kind: 'inline'; bytes: Uint8Array }>();
  const axes = (name: string, rank: number): string[] =>
    Array.from({ length: rank }, (_, axis) => `${name}_${axis}`);
  for (const input of inputs) {
    if (input === null) continue;
    const { name, type, content, shape } = input;
    if (content === undefined) {
      graph.input(name, type, axes(name, shape.length));
      continue;
    }
    placements.set(name, { kind: 'inline', bytes: content });
    graph.weightGroup({
      tensors: [{ name, type, dims: shape }],
      async *produce() {
        yield [content];
      },
    });
  }
  const names = inputs.map(input => input?.name ?? '');
  const outputNames = outputs.map(({ name }) => name);
  graph.op(`/${opType}`, opType, names, { domain: 'ortler', attributes, outputs: outputNames });
  for (const { name, type, rank } of outputs) graph.output(name, type, axes(name, rank));
  return encodeModel(graph, placements, '');
}
