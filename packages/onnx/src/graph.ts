// Records an ONNX graph: inputs, nodes, weights and outputs. Weights are declared with a function that produces their bytes
// later; nothing is read while recording.

import { assertInvariant } from './errors.ts';

/** Element types of our graphs, with their numbers in TensorProto.DataType and their sizes. */
export const ELEMENT_TYPES = {
  float32: { onnxType: 1, bytes: 4 },
  uint8: { onnxType: 2, bytes: 1 },
  int8: { onnxType: 3, bytes: 1 },
  int32: { onnxType: 6, bytes: 4 },
  int64: { onnxType: 7, bytes: 8 },
  bool: { onnxType: 9, bytes: 1 },
  float16: { onnxType: 10, bytes: 2 },
  uint32: { onnxType: 12, bytes: 4 },
} as const;

export type ElementType = keyof typeof ELEMENT_TYPES;

const CONSTANT_BYTES = {
  int64: (values: readonly number[]) =>
    new Uint8Array(BigInt64Array.from(values, value => BigInt(value)).buffer),
  float32: (values: readonly number[]) => new Uint8Array(Float32Array.from(values).buffer),
  float16: (values: readonly number[]) => new Uint8Array(Float16Array.from(values).buffer),
} as const;

/** Domain of ONNX Runtime's own operators; the empty domain is standard ONNX. */
export const MICROSOFT = 'com.microsoft';

export type AttributeValue =
  | { readonly kind: 'int'; readonly value: number }
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'ints'; readonly value: readonly number[] };

export interface GraphNode {
  /** Path of the node: `/model/layers.3/attn/qkv_proj/MatMul`. */
  readonly path: string;
  readonly opType: string;
  readonly domain: string;
  /** Empty string: an optional input that is not given. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: Readonly<Record<string, AttributeValue>>;
}

export interface ValueInfo {
  readonly name: string;
  readonly type: ElementType;
  /** A string is a named dimension that is known only at run time. */
  readonly dims: readonly (number | string)[];
}

export interface TensorSpec {
  readonly name: string;
  readonly type: ElementType;
  readonly dims: readonly number[];
}

/**
 * Tensors whose bytes come from one pass over the checkpoint (a quantised matrix and its scales, for example).
 *
 * `produce` yields parts; each part holds the next bytes of every tensor, in the order of `tensors`.
 * The arrays of a part may be reused by the producer as soon as the next part is asked for.
 */
export interface WeightGroup {
  readonly tensors: readonly TensorSpec[];
  produce(): AsyncIterable<readonly Uint8Array[]>;
}

/** Options of one operator. */
export interface OpOptions {
  readonly domain?: string;
  readonly attributes?: Readonly<Record<string, AttributeValue>>;
  /** Names of the outputs; the default is one output named after the node. */
  readonly outputs?: readonly string[];
}

export const int = (value: number): AttributeValue => ({ kind: 'int', value });
export const float = (value: number): AttributeValue => ({ kind: 'float', value });
export const ints = (value: readonly number[]): AttributeValue => ({ kind: 'ints', value });
export const text = (value: string): AttributeValue => ({ kind: 'string', value });

/** Version of ONNX's operators that graphs are written in, unless they need one of a later version. */
const DEFAULT_OPSET = 21;

/** Unit: bytes. */
export function tensorBytes(tensor: TensorSpec): number {
  return tensor.dims.reduce((product, dim) => product * dim, ELEMENT_TYPES[tensor.type].bytes);
}

/** Collects a graph. Every name is unique, so a block that is recorded twice by mistake fails at once. */
export class GraphRecorder {
  readonly nodes: GraphNode[] = [];
  readonly inputs: ValueInfo[] = [];
  readonly outputs: ValueInfo[] = [];
  readonly weights: WeightGroup[] = [];
  readonly #names = new Set<string>();
  readonly name: string;
  /** Version of the operators of standard ONNX. */
  readonly opset: number;

  constructor({
    name = 'main',
    opset = DEFAULT_OPSET,
  }: { readonly name?: string; readonly opset?: number } = {}) {
    this.name = name;
    this.opset = opset;
  }

  input(name: string, type: ElementType, dims: readonly (number | string)[]): string {
    this.inputs.push({ name: this.#claim(name), type, dims });
    return name;
  }

  /** Declares that the value `name`, which some operator makes, is a result of the graph. */
  output(name: string, type: ElementType, dims: readonly (number | string)[]): void {
    assertInvariant(this.#names.has(name), `graph output ${name} is not made by any operator`);
    this.outputs.push({ name, type, dims });
  }

  /** Records an operator and returns the name of its first output. */
  op(path: string, opType: string, inputs: readonly string[], options: OpOptions = {}): string {
    const outputs = options.outputs ?? [`${path}/output_0`];
    for (const name of inputs) {
      assertInvariant(name === '' || this.#names.has(name), `${path} reads ${name}, which nothing made yet`);
    }
    for (const name of outputs) if (name !== '') this.#claim(name);
    const { domain = '', attributes = {} } = options;
    this.nodes.push({ path, opType, domain, inputs, outputs, attributes });
    return outputs[0]!;
  }

  weightGroup(group: WeightGroup): void {
    for (const tensor of group.tensors) this.#claim(tensor.name);
    this.weights.push(group);
  }

  /** A small constant known now, such as the target shape of a Reshape. */
  constant(name: string, type: keyof typeof CONSTANT_BYTES, values: readonly number[]): string {
    const bytes = CONSTANT_BYTES[type](values);
    this.weightGroup({
      tensors: [{ name, type, dims: [values.length] }],
      async *produce() {
        yield [bytes];
      },
    });
    return name;
  }

  #claim(name: string): string {
    assertInvariant(!this.#names.has(name), `the name ${name} is used twice in the graph`);
    this.#names.add(name);
    return name;
  }
}
