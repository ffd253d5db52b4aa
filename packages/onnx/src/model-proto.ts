// ONNX's messages on the protobuf wire: a recorded graph and the places of its weights to the bytes of a
// model file. Field numbers are those of onnx.proto (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto).

import { assertInvariant } from './errors.ts';
import {
  type AttributeValue,
  ELEMENT_TYPES,
  type GraphNode,
  type GraphRecorder,
  MICROSOFT,
  type TensorSpec,
  type ValueInfo,
} from './graph.ts';
import { ProtoWriter } from './protobuf.ts';

/** The oldest format version that has everything used here, so that the widest range of runtimes reads it. */
const IR_VERSION = 9;
const MICROSOFT_OPSET = 1;
const EXTERNAL_DATA_LOCATION = 1;

/** AttributeProto.AttributeType */
const ATTRIBUTE_TYPES = { float: 1, int: 2, string: 3, ints: 7 } as const;

/** Where the bytes of a tensor are: in the model file itself, or in a file beside it. */
export type TensorPlacement =
  | { readonly kind: 'inline'; readonly bytes: Uint8Array }
  | { readonly kind: 'external'; readonly file: string; readonly offset: number; readonly length: number };

/** Bytes of the model file. `placements` has an entry for every tensor of the graph. */
export function encodeModel(
  graph: GraphRecorder,
  placements: ReadonlyMap<string, TensorPlacement>,
  producerVersion: string,
): Uint8Array {
  const tensors = graph.weights.flatMap(group => group.tensors);
  const model = new ProtoWriter();
  model.integer(1, IR_VERSION);
  model.string(2, 'ortler');
  model.string(3, producerVersion);
  model.message(7, writer => {
    for (const node of graph.nodes) writer.message(1, inner => writeNode(inner, node));
    writer.string(2, graph.name);
    for (const tensor of tensors) {
      const placement = placements.get(tensor.name);
      assertInvariant(placement !== undefined, `tensor ${tensor.name} was not written`);
      writer.message(5, inner => writeTensor(inner, tensor, placement));
    }
    for (const input of graph.inputs) writer.message(11, inner => writeValueInfo(inner, input));
    for (const output of graph.outputs) writer.message(12, inner => writeValueInfo(inner, output));
  });
  writeOpset(model, '', graph.opset);
  writeOpset(model, MICROSOFT, MICROSOFT_OPSET);
  return model.finish();
}

function writeOpset(model: ProtoWriter, domain: string, version: number): void {
  model.message(8, writer => {
    writer.string(1, domain);
    writer.integer(2, version);
  });
}

function writeNode(writer: ProtoWriter, node: GraphNode): void {
  for (const input of node.inputs) writer.string(1, input);
  for (const output of node.outputs) writer.string(2, output);
  writer.string(3, node.path);
  writer.string(4, node.opType);
  for (const [name, value] of Object.entries(node.attributes)) {
    writer.message(5, inner => writeAttribute(inner, name, value));
  }
  writer.string(7, node.domain);
}

function writeAttribute(writer: ProtoWriter, name: string, attribute: AttributeValue): void {
  writer.string(1, name);
  switch (attribute.kind) {
    case 'float':
      writer.float(2, attribute.value);
      break;
    case 'int':
      writer.integer(3, attribute.value);
      break;
    case 'string':
      writer.string(4, attribute.value);
      break;
    case 'ints':
      for (const value of attribute.value) writer.integer(8, value);
      break;
  }
  writer.integer(20, ATTRIBUTE_TYPES[attribute.kind]);
}

function writeTensor(writer: ProtoWriter, tensor: TensorSpec, placement: TensorPlacement): void {
  for (const dim of tensor.dims) writer.integer(1, dim);
  writer.integer(2, ELEMENT_TYPES[tensor.type].onnxType);
  writer.string(8, tensor.name);
  if (placement.kind === 'inline') {
    writer.bytes(9, placement.bytes);
    return;
  }
  writeEntry(writer, 'location', placement.file);
  writeEntry(writer, 'offset', String(placement.offset));
  writeEntry(writer, 'length', String(placement.length));
  writer.integer(14, EXTERNAL_DATA_LOCATION);
}

function writeEntry(writer: ProtoWriter, key: string, value: string): void {
  writer.message(13, entry => {
    entry.string(1, key);
    entry.string(2, value);
  });
}

function writeValueInfo(writer: ProtoWriter, info: ValueInfo): void {
  writer.string(1, info.name);
  writer.message(2, type =>
    type.message(1, tensor => {
      tensor.integer(1, ELEMENT_TYPES[info.type].onnxType);
      tensor.message(2, shape => {
        for (const dim of info.dims) {
          shape.message(1, inner => {
            if (typeof dim === 'number') inner.integer(1, dim);
            else inner.string(2, dim);
          });
        }
      });
    }),
  );
}
