// A small ONNX graph as the bytes of a model. Callers: `graph-writer.ts`, and tests that describe a graph of a few nodes.
// model-builder has a writer of its own for decoders: neither package may depend on the other.

import type { ElementType } from './backend.ts';
import { ELEMENT_TYPES } from './element-types.ts';

export interface GraphValue {
  readonly name: string;
  readonly type: ElementType;
  /** A string is a dimension that is known at run time only. */
  readonly shape: readonly (number | string)[];
}

export interface GraphConstant {
  readonly name: string;
  readonly type: ElementType;
  readonly shape: readonly number[];
  readonly content: Uint8Array;
}

export interface GraphNode {
  readonly opType: string;
  /** Empty names are inputs left out. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly domain?: string;
  readonly integers?: Readonly<Record<string, number>>;
}

export interface GraphDescription {
  /** Default: `graph`. */
  readonly name?: string;
  readonly inputs: readonly GraphValue[];
  readonly outputs: readonly GraphValue[];
  readonly constants?: readonly GraphConstant[];
  readonly nodes: readonly GraphNode[];
}

const IR_VERSION = 9;
const OPSET_VERSION = 18;
const INTEGER_ATTRIBUTE = 2;

/** Bytes of the model. Field numbers: onnx.proto. */
export function encodeGraph({
  name = 'graph',
  inputs,
  outputs,
  constants = [],
  nodes,
}: GraphDescription): Uint8Array {
  return message(
    number(1, IR_VERSION),
    bytes(
      7,
      message(
        ...nodes.map(node => bytes(1, encodeNode(node))),
        text(2, name),
        ...constants.map(constant => bytes(5, encodeConstant(constant))),
        ...inputs.map(value => bytes(11, encodeValue(value))),
        ...outputs.map(value => bytes(12, encodeValue(value))),
      ),
    ),
    bytes(8, message(text(1, ''), number(2, OPSET_VERSION))),
    bytes(8, message(text(1, 'com.microsoft'), number(2, 1))),
  );
}

function encodeNode({ opType, inputs, outputs, domain = '', integers = {} }: GraphNode): Uint8Array {
  return message(
    ...inputs.map(name => text(1, name)),
    ...outputs.map(name => text(2, name)),
    text(4, opType),
    ...Object.entries(integers).map(([name, value]) =>
      bytes(5, message(text(1, name), number(3, value), number(20, INTEGER_ATTRIBUTE))),
    ),
    text(7, domain),
  );
}

function encodeConstant({ name, type, shape, content }: GraphConstant): Uint8Array {
  const dimensions = shape.map(length => number(1, length));
  return message(...dimensions, number(2, ELEMENT_TYPES[type].code), text(8, name), bytes(9, content));
}

function encodeValue({ name, type, shape }: GraphValue): Uint8Array {
  const dimensions = shape.map(dimension =>
    bytes(1, typeof dimension === 'string' ? text(2, dimension) : number(1, dimension)),
  );
  // TensorProto numbers its types as the C API does.
  const tensor = message(number(1, ELEMENT_TYPES[type].code), bytes(2, message(...dimensions)));
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
