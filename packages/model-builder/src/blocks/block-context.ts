// What every block is given besides its own inputs.

import type { Precision } from '@ortler/engine/graph-contract';
import type { Checkpoint, CheckpointTensor } from '../hugging-face/checkpoint.ts';
import type { DecoderConfig } from '../hugging-face/config.ts';
import type { GraphRecorder } from '../onnx/graph.ts';
import { bytesOf, rowChunks } from '../weights/row-chunks.ts';

export interface BlockContext {
  readonly graph: GraphRecorder;
  readonly config: DecoderConfig;
  readonly checkpoint: Checkpoint;
  readonly precision: Precision;
}

/** Declares float32 weights that are one or more checkpoint tensors joined along their first dimension. */
export function floatWeights(graph: GraphRecorder, name: string, parts: readonly CheckpointTensor[]): string {
  const width = parts[0]!.shape.slice(1).reduce((product, dim) => product * dim, 1);
  const rowCount = parts.reduce((sum, part) => sum + part.shape[0]!, 0);
  graph.weightGroup({
    tensors: [{ name, type: 'float32', dims: [rowCount, ...parts[0]!.shape.slice(1)] }],
    async *produce() {
      for await (const chunk of rowChunks(parts, width)) yield [bytesOf(chunk)];
    },
  });
  return name;
}
