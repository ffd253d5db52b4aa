// Reads the structure of an exported graph.

import { type FoundGraph, OnnxError, readGraph } from '@ortler/onnx';
import { ModelBuildError } from '../errors.ts';

/** Throws: `source_invalid` for a file that cannot be read or is not an ONNX model. */
export function readExportedGraph(graphFile: string): FoundGraph {
  try {
    return readGraph(graphFile);
  } catch (cause) {
    if (!(cause instanceof OnnxError)) throw cause;
    throw new ModelBuildError('source_invalid', cause.message, { file: graphFile, cause });
  }
}
