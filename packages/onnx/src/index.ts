// Public surface of @ortler/onnx.

export {
  encodeGraph,
  type GraphConstant,
  type GraphDescription,
  type GraphValue,
} from './encode-graph.ts';
export { OnnxError, type OnnxErrorCode, type OnnxErrorDetails } from './errors.ts';
export { totalWeightBytes, type WriteWeightsOptions, writeWeights } from './external-data.ts';
export {
  type AttributeValue,
  ELEMENT_TYPES,
  type ElementType,
  float,
  type GraphNode,
  GraphRecorder,
  int,
  ints,
  MICROSOFT,
  type OpOptions,
  type TensorSpec,
  tensorBytes,
  text,
  type ValueInfo,
  type WeightGroup,
} from './graph.ts';
export { GraphWriter, type Value } from './graph-writer.ts';
export { encodeModel, type TensorPlacement } from './model-proto.ts';
export {
  type FoundGraph,
  type FoundNode,
  type FoundValue,
  type FoundWeight,
  GIT_LFS_START,
  readGraph,
} from './read-graph.ts';
