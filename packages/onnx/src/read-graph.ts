// Reads the structure of an ONNX file: inputs, outputs, operators, and names and shapes of its weights, whose content is not
// read. Field numbers are those of onnx.proto (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto).

import { OnnxError } from './errors.ts';
import { MalformedProto, type ProtoField, ProtoFile } from './protobuf-reader.ts';

const GRAPH_FIELD = 7;
const GRAPH = { node: 1, initializer: 5, input: 11, output: 12 } as const;
const NODE = { input: 1, output: 2, name: 3, opType: 4, attribute: 5, domain: 7 } as const;
const ATTRIBUTE = { name: 1, integer: 3 } as const;
const TENSOR = { dims: 1, type: 2, name: 8, externalData: 13 } as const;

/** Start of a Git LFS pointer, which a clone without Git LFS has in place of the file. */
export const GIT_LFS_START = 'version ';

export interface FoundNode {
  readonly path: string;
  readonly opType: string;
  readonly domain: string;
  /** Empty text: an optional input that is not given. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** Integer attributes; others are 0. */
  readonly integers: ReadonlyMap<string, number>;
}

export interface FoundValue {
  readonly name: string;
  /** TensorProto.DataType; 0 for what is not a tensor. */
  readonly onnxType: number;
  /** A text is a dimension that is known only at run time; empty where it has no name. */
  readonly dims: readonly (number | string)[];
}

export interface FoundWeight {
  readonly name: string;
  readonly onnxType: number;
  readonly dims: readonly number[];
  /** File beside the graph that holds it; undefined: the graph's own. */
  readonly file: string | undefined;
  /** Its first byte there. */
  readonly offset: number;
  /** Its bytes there; undefined where the graph does not say. */
  readonly length: number | undefined;
}

export interface FoundGraph {
  readonly nodes: readonly FoundNode[];
  readonly inputs: readonly FoundValue[];
  readonly outputs: readonly FoundValue[];
  readonly weights: ReadonlyMap<string, FoundWeight>;
}

/** Throws: `unreadable`, `malformed`. */
export function readGraph(path: string): FoundGraph {
  let file: ProtoFile | undefined;
  try {
    file = new ProtoFile(path);
    if (file.beginsWith(GIT_LFS_START))
      throw new MalformedProto('this is a pointer of Git LFS: fetch the model with "git lfs pull"');
    const graph = [...file.fields()].find(({ number }) => number === GRAPH_FIELD);
    if (graph === undefined) throw new MalformedProto('there is no graph');
    return graphOf(file, graph);
  } catch (cause) {
    if (cause instanceof MalformedProto)
      throw new OnnxError('malformed', `${path} is not an ONNX model: ${cause.message}`, {
        file: path,
        cause,
      });
    throw new OnnxError('unreadable', `${path} cannot be read`, { file: path, cause });
  } finally {
    file?.close();
  }
}

function graphOf(file: ProtoFile, message: ProtoField): FoundGraph {
  const nodes: FoundNode[] = [];
  const inputs: FoundValue[] = [];
  const outputs: FoundValue[] = [];
  const weights = new Map<string, FoundWeight>();
  for (const field of file.fields(message.start, message.end)) {
    if (field.number === GRAPH.node) nodes.push(nodeOf(file, field));
    else if (field.number === GRAPH.input) inputs.push(valueInfoOf(file, field));
    else if (field.number === GRAPH.output) outputs.push(valueInfoOf(file, field));
    else if (field.number === GRAPH.initializer) {
      const weight = weightOf(file, field);
      weights.set(weight.name, weight);
    }
  }
  // Old files list weights among the inputs.
  return { nodes, inputs: inputs.filter(({ name }) => !weights.has(name)), outputs, weights };
}

function nodeOf(file: ProtoFile, message: ProtoField): FoundNode {
  const inputs: string[] = [];
  const outputs: string[] = [];
  const integers = new Map<string, number>();
  const texts = new Map<number, string>();
  for (const field of file.fields(message.start, message.end)) {
    if (field.number === NODE.input) inputs.push(file.text(field));
    else if (field.number === NODE.output) outputs.push(file.text(field));
    else if (field.number === NODE.attribute) {
      const parts = fieldsOf(file, field);
      const name = parts.get(ATTRIBUTE.name);
      if (name !== undefined) integers.set(file.text(name), integerOf(file, parts.get(ATTRIBUTE.integer)));
    } else if (field.number === NODE.name || field.number === NODE.opType || field.number === NODE.domain)
      texts.set(field.number, file.text(field));
  }
  const text = (number: number) => texts.get(number) ?? '';
  return {
    path: text(NODE.name),
    opType: text(NODE.opType),
    domain: text(NODE.domain),
    inputs,
    outputs,
    integers,
  };
}

/** ValueInfoProto: name 1, type 2; of it tensor 1; of that element type 1, shape 2; of that dimensions 1: number 1, name 2. */
function valueInfoOf(file: ProtoFile, message: ProtoField): FoundValue {
  const info = fieldsOf(file, message);
  const name = info.get(1);
  const tensor = memberOf(file, memberOf(file, info, 2), 1);
  const shape = tensor.get(2);
  const dims: (number | string)[] = [];
  if (shape !== undefined) {
    for (const dimension of file.fields(shape.start, shape.end)) {
      const parts = fieldsOf(file, dimension);
      const [number, text] = [parts.get(1), parts.get(2)];
      if (number !== undefined) dims.push(integerOf(file, number));
      else dims.push(text === undefined ? '' : file.text(text));
    }
  }
  return {
    name: name === undefined ? '' : file.text(name),
    onnxType: integerOf(file, tensor.get(1)),
    dims,
  };
}

function weightOf(file: ProtoFile, message: ProtoField): FoundWeight {
  const dims: number[] = [];
  let [name, onnxType, location]: [string, number, string | undefined] = ['', 0, undefined];
  let [offset, length]: [number, number | undefined] = [0, undefined];
  for (const field of file.fields(message.start, message.end)) {
    if (field.number === TENSOR.dims) dims.push(...file.integers(field));
    else if (field.number === TENSOR.type) onnxType = integerOf(file, field);
    else if (field.number === TENSOR.name) name = file.text(field);
    else if (field.number === TENSOR.externalData) {
      const entry = fieldsOf(file, field);
      const [key, value] = [entry.get(1), entry.get(2)];
      if (key === undefined || value === undefined) continue;
      const detail = file.text(key);
      if (detail === 'location') location = file.text(value);
      else if (detail === 'offset') offset = Number(file.text(value));
      else if (detail === 'length') length = Number(file.text(value));
    }
  }
  return { name, onnxType, dims, file: location, offset, length };
}

/** The last field of each number. */
function fieldsOf(file: ProtoFile, { start, end }: ProtoField): Map<number, ProtoField> {
  return new Map([...file.fields(start, end)].map(field => [field.number, field]));
}

/** Fields of a message inside a message; none where it is missing. */
function memberOf(
  file: ProtoFile,
  message: ReadonlyMap<number, ProtoField>,
  number: number,
): Map<number, ProtoField> {
  const member = message.get(number);
  return member === undefined ? new Map() : fieldsOf(file, member);
}

function integerOf(file: ProtoFile, field: ProtoField | undefined): number {
  return field === undefined ? 0 : file.integers(field)[0]!;
}
