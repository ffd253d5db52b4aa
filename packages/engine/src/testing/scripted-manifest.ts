// The manifest of a model whose token side is scripted: only its descriptive fields matter.

import { GRAPH_FORMAT_VERSION, type ModelManifest } from '../graph-contract/index.ts';

/** Its vocabulary has the size of the tokenizer `digits` of the tests. */
export const SCRIPTED_MANIFEST: ModelManifest = {
  formatVersion: GRAPH_FORMAT_VERSION,
  variant: 'slots',
  precision: 'f32',
  modelType: 'llama',
  graphFile: 'model.onnx',
  layerCount: 1,
  headCount: 1,
  kvHeadCount: 1,
  headSize: 8,
  hiddenSize: 8,
  vocabSize: 600,
  contextLength: 256,
  kvType: 'float32',
  parameterCount: 1,
  contentHash: 'scripted',
};
