// Writes a small ONNX graph as the bytes of a model, node by node: graphs for sampling, and to try devices. Decoders come from
// model-builder; graphs made here have no weights.

import type { ElementType } from './backend.ts';

/** Name of a value in the graph under construction. */
export type Value = string;

/** Data types of onnx.proto's TensorProto. */
const ONNX_TYPE = { float32: 1, int32: 6, int64: 7, float16: 10 } as const satisfies Partial<
  Record<ElementType, number>
>;
type GraphType = keyof typeof ONNX_TYPE;

const IR_VERSION = 9;
const OPSET_VERSION = 18;
const INTEGER_ATTRIBUTE = 2;

export class GraphWriter {
  readonly #name: string;
  readonly #inputs: Uint8Array[] = [];
  readonly #outputs: Uint8Array[] = [];
  readonly #constants: Uint8Array[] = [];
  readonly #nodes: Uint8Array[] = [];
  /** Names of constants by their content: each is stored once. */
  readonly #known = new Map<string, Value>();
  #count = 0;

  constructor(name: string) {
    this.#name = name;
  }

  /** A dimension that is a string is known at run time only. */
  input(name: string, type: GraphType, shape: readonly (number | string)[]): Value {
    this.#inputs.push(valueInfo(name, type, shape));
    return name;
  }

  output(name: string, value: Value, type: GraphType, shape: readonly (number | string)[]): void {
    this.#nodes.push(node('Identity', [value], [name], {}));
    this.#outputs.push(valueInfo(name, type, shape));
  }

  /** Adds a node whose output is one of the graph: where it is bound to an input's memory, the operator works in place. */
  resultOf(
    opType: string,
    inputs: readonly Value[],
    { name, type, shape }: { name: string; type: GraphType; shape: readonly (number | string)[] },
  ): void {
    this.#nodes.push(node(opType, inputs, [name], {}));
    this.#outputs.push(valueInfo(name, type, shape));
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

  /** Adds a node. Attributes are whole numbers. Gives its first output. */
  op(type: string, inputs: readonly Value[], integers: Readonly<Record<string, number>> = {}): Value {
    return this.ops(type, inputs, 1, integers)[0]!;
  }

  /** Adds a node of several outputs. */
  ops(
    type: string,
    inputs: readonly Value[],
    outputCount: number,
    integers: Readonly<Record<string, number>> = {},
  ): readonly Value[] {
    const outputs = Array.from({ length: outputCount }, () => `v${this.#count++}`);
    this.#nodes.push(node(type, inputs, outputs, integers));
    return outputs;
  }

  add = (a: Value, b: Value): Value => this.op('Add', [a, b]);
  subtract = (a: Value, b: Value): Value => this.op('Sub', [a, b]);
  multiply = (a: Value, b: Value): Value => this.op('Mul', [a, b]);
  reshape = (a: Value, ...shape: readonly number[]): Value => this.op('Reshape', [a, this.int64(...shape)]);
  cast = (a: Value, type: GraphType): Value => this.op('Cast', [a], { to: ONNX_TYPE[type] });

  /** Bytes of the model. Field numbers: onnx.proto. */
  encode(): Uint8Array {
    const graph = message(
      ...this.#nodes.map(bytes => field(1, bytes)),
      text(2, this.#name),
      ...this.#constants.map(bytes => field(5, bytes)),
      ...this.#inputs.map(bytes => field(11, bytes)),
      ...this.#outputs.map(bytes => field(12, bytes)),
    );
    const opset = message(text(1, ''), number(2, OPSET_VERSION));
    return message(number(1, IR_VERSION), field(7, graph), field(8, opset));
  }

  #constant(
    type: GraphType,
    shape: readonly number[],
    data: Float32Array | Int32Array | BigInt64Array,
  ): Value {
    const content = Buffer.from(data.buffer);
    const key = `${type} ${shape.join()} ${content.toString('base64')}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const name = `c${this.#count++}`;
    this.#known.set(key, name);
    const dimensions = shape.map(length => number(1, length));
    this.#constants.push(
      message(...dimensions, number(2, ONNX_TYPE[type]), text(8, name), field(9, content)),
    );
    return name;
  }
}

function node(
  type: string,
  inputs: readonly Value[],
  outputs: readonly Value[],
  integers: Readonly<Record<string, number>>,
): Uint8Array {
  return message(
    ...inputs.map(name => text(1, name)),
    ...outputs.map(name => text(2, name)),
    text(4, type),
    ...Object.entries(integers).map(([name, value]) =>
      field(5, message(text(1, name), number(3, value), number(20, INTEGER_ATTRIBUTE))),
    ),
  );
}

function valueInfo(name: string, type: GraphType, shape: readonly (number | string)[]): Uint8Array {
  const dimensions = shape.map(dimension =>
    field(1, typeof dimension === 'string' ? text(2, dimension) : number(1, dimension)),
  );
  const tensor = message(number(1, ONNX_TYPE[type]), field(2, message(...dimensions)));
  return message(text(1, name), field(2, field(1, tensor)));
}

function message(...fields: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(fields);
}

function number(id: number, value: number): Uint8Array {
  return message(varint(id << 3), varint(value));
}

function text(id: number, value: string): Uint8Array {
  return field(id, Buffer.from(value));
}

function field(id: number, value: Uint8Array): Uint8Array {
  return message(varint((id << 3) | 2), varint(value.length), value);
}

/** A whole number; negative ones, of which -1 is the only one here, take ten bytes. */
function varint(value: number): Uint8Array {
  const result: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 0x7fn) {
    result.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  result.push(Number(rest));
  return Uint8Array.from(result);
}
