// Encodes a small ONNX graph, described as plain data, with its constants inside the model. Callers: `graph-writer.ts`, and
// hosts that describe a graph of a few nodes.

import { type ElementType, float, GraphRecorder, int } from './graph.ts';
import { encodeModel, type TensorPlacement } from './model-proto.ts';

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
  readonly floats?: Readonly<Record<string, number>>;
}

export interface GraphDescription {
  /** Default: `graph`. */
  readonly name?: string;
  readonly inputs: readonly GraphValue[];
  readonly outputs: readonly GraphValue[];
  readonly constants?: readonly GraphConstant[];
  readonly nodes: readonly GraphNode[];
}

/** The oldest opset with all operators that these graphs use. */
const OPSET_VERSION = 18;

/** Bytes of the model, with its constants inside. */
export function encodeGraph({
  name = 'graph',
  inputs,
  outputs,
  constants = [],
  nodes,
}: GraphDescription): Uint8Array {
  const graph = new GraphRecorder({ name, opset: OPSET_VERSION });
  for (const { name: input, type, shape } of inputs) graph.input(input, type, shape);
  const placements = new Map<string, TensorPlacement>();
  for (const { name: constant, type, shape, content } of constants) {
    placements.set(constant, { kind: 'inline', bytes: content });
    graph.weightGroup({
      tensors: [{ name: constant, type, dims: shape }],
      async *produce() {
        yield [content];
      },
    });
  }
  for (const [index, node] of nodes.entries()) {
    const { opType, domain = '', integers = {}, floats = {} } = node;
    const attributes = Object.fromEntries([
      ...Object.entries(integers).map(([key, value]) => [key, int(value)] as const),
      ...Object.entries(floats).map(([key, value]) => [key, float(value)] as const),
    ]);
    graph.op(`/${opType}_${index}`, opType, node.inputs, { domain, attributes, outputs: node.outputs });
  }
  for (const { name: output, type, shape } of outputs) graph.output(output, type, shape);
  return encodeModel(graph, placements, '');
}
