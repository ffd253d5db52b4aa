// Builds a small ONNX graph call by call, with its constants inside the model: for tests, sampling and device probes.

import { encodeGraph, type GraphConstant, type GraphNode, type GraphValue } from './encode-graph.ts';
import { ELEMENT_TYPES, type ElementType } from './graph.ts';

/** Name of a value in the graph under construction. */
export type Value = string;

type GraphType = Extract<ElementType, 'float32' | 'int32' | 'int64' | 'float16'>;

/** A graph under construction. Mutates: itself only. */
export class GraphWriter {
  readonly #name: string;
  readonly #inputs: GraphValue[] = [];
  readonly #outputs: GraphValue[] = [];
  readonly #constants: GraphConstant[] = [];
  readonly #nodes: GraphNode[] = [];
  /** Names of constants by their content: each is stored once. */
  readonly #known = new Map<string, Value>();
  #count = 0;

  constructor(name: string) {
    this.#name = name;
  }

  /** A dimension that is a string is known at run time only. */
  input(name: string, type: GraphType, shape: readonly (number | string)[]): Value {
    this.#inputs.push({ name, type, shape });
    return name;
  }

  output(name: string, value: Value, type: GraphType, shape: readonly (number | string)[]): void {
    this.#nodes.push({ opType: 'Identity', inputs: [value], outputs: [name] });
    this.#outputs.push({ name, type, shape });
  }

  /** Adds a node whose output is a graph output: bound to the memory of an input, it is updated in place. */
  resultOf(
    opType: string,
    inputs: readonly Value[],
    { name, type, shape }: { name: string; type: GraphType; shape: readonly (number | string)[] },
  ): void {
    this.#nodes.push({ opType, inputs, outputs: [name] });
    this.#outputs.push({ name, type, shape });
  }

  floats(values: readonly number[], shape: readonly number[] = []): Value {
    return this.#constant('float32', shape, Float32Array.from(values));
  }

  int32(values: readonly number[], shape: readonly number[]): Value {
    return this.#constant('int32', shape, Int32Array.from(values));
  }

  int64(...values: readonly number[]): Value {
    return this.#constant('int64', [values.length], BigInt64Array.from(values, BigInt));
  }

  /** Adds a node with integer attributes. Returns its first output. */
  op(type: string, inputs: readonly Value[], integers: Readonly<Record<string, number>> = {}): Value {
    return this.ops(type, inputs, 1, integers)[0]!;
  }

  /** Adds a node with several outputs. */
  ops(
    type: string,
    inputs: readonly Value[],
    outputCount: number,
    integers: Readonly<Record<string, number>> = {},
  ): readonly Value[] {
    const outputs = Array.from({ length: outputCount }, () => `v${this.#count++}`);
    this.#nodes.push({ opType: type, inputs, outputs, integers });
    return outputs;
  }

  add = (a: Value, b: Value): Value => this.op('Add', [a, b]);
  subtract = (a: Value, b: Value): Value => this.op('Sub', [a, b]);
  multiply = (a: Value, b: Value): Value => this.op('Mul', [a, b]);
  reshape = (a: Value, ...shape: readonly number[]): Value => this.op('Reshape', [a, this.int64(...shape)]);
  cast = (a: Value, type: GraphType): Value => this.op('Cast', [a], { to: ELEMENT_TYPES[type].onnxType });

  /** The model as protobuf bytes. */
  encode(): Uint8Array {
    return encodeGraph({
      name: this.#name,
      inputs: this.#inputs,
      outputs: this.#outputs,
      constants: this.#constants,
      nodes: this.#nodes,
    });
  }

  #constant(
    type: GraphType,
    shape: readonly number[],
    data: Float32Array | Int32Array | BigInt64Array,
  ): Value {
    const content = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    const key = `${type} ${shape.join()} ${Buffer.from(content).toString('base64')}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const name = `c${this.#count++}`;
    this.#known.set(key, name);
    this.#constants.push({ name, type, shape, content });
    return name;
  }
}
