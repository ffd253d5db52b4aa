// Writes ONNX models of a few nodes as bytes, for tests of the ONNX Runtime bindings. Real graphs come from
// model-builder; this package cannot use it, because it must not depend on a package that depends on it.

/** Data types of onnx.proto's TensorProto. */
export const ONNX_TYPE = {
  float32: 1,
  uint8: 2,
  int8: 3,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
  uint32: 12,
} as const;

export interface TinyValue {
  readonly name: string;
  readonly type: keyof typeof ONNX_TYPE;
  /** A string is a dimension that is known at run time only. */
  readonly shape: readonly (number | string)[];
}

export interface TinyNode {
  readonly opType: string;
  /** Empty names are inputs left out. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly domain?: string;
  readonly integers?: Readonly<Record<string, number>>;
}

export interface TinyGraph {
  readonly inputs: readonly TinyValue[];
  readonly outputs: readonly TinyValue[];
  readonly nodes: readonly TinyNode[];
}

const IR_VERSION = 9;
const OPSET_VERSION = 18;
const INTEGER_ATTRIBUTE = 2;

/** A model that copies float32 `x` of shape `[n]` to `y`. */
export function identityModel(): Uint8Array {
  return encodeTinyModel({
    inputs: [{ name: 'x', type: 'float32', shape: ['n'] }],
    outputs: [{ name: 'y', type: 'float32', shape: ['n'] }],
    nodes: [{ opType: 'Identity', inputs: ['x'], outputs: ['y'] }],
  });
}

/** Bytes of the model. Field numbers: onnx.proto. */
export function encodeTinyModel(graph: TinyGraph): Uint8Array {
  return message(
    number(1, IR_VERSION),
    bytes(
      7,
      message(
        ...graph.nodes.map(node => bytes(1, encodeNode(node))),
        text(2, 'tiny'),
        ...graph.inputs.map(value => bytes(11, encodeValue(value))),
        ...graph.outputs.map(value => bytes(12, encodeValue(value))),
      ),
    ),
    bytes(8, message(text(1, ''), number(2, OPSET_VERSION))),
    bytes(8, message(text(1, 'com.microsoft'), number(2, 1))),
  );
}

function encodeNode(node: TinyNode): Uint8Array {
  return message(
    ...node.inputs.map(name => text(1, name)),
    ...node.outputs.map(name => text(2, name)),
    text(4, node.opType),
    ...Object.entries(node.integers ?? {}).map(([name, value]) =>
      bytes(5, message(text(1, name), number(3, value), number(20, INTEGER_ATTRIBUTE))),
    ),
    text(7, node.domain ?? ''),
  );
}

function encodeValue({ name, type, shape }: TinyValue): Uint8Array {
  const dimensions = shape.map(dimension =>
    bytes(1, typeof dimension === 'string' ? text(2, dimension) : number(1, dimension)),
  );
  const tensor = message(number(1, ONNX_TYPE[type]), bytes(2, message(...dimensions)));
  return message(text(1, name), bytes(2, bytes(1, tensor)));
}

function message(...fields: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(fields);
}

function number(field: number, value: number): Uint8Array {
  return message(varint(field << 3), varint(value));
}

function text(field: number, value: string): Uint8Array {
  return bytes(field, Buffer.from(value));
}

function bytes(field: number, value: Uint8Array): Uint8Array {
  return message(varint((field << 3) | 2), varint(value.length), value);
}

function varint(value: number): Uint8Array {
  const result: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    result.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  result.push(rest);
  return Uint8Array.from(result);
}
