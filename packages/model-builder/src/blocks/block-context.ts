// What every block is given besides its own inputs.

import type { Precision } from '@ortler/engine/graph-contract';
import type { WeightSource } from '../hugging-face/checkpoint.ts';
import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import type { GraphRecorder } from '../onnx/graph.ts';

export interface BlockContext {
  readonly graph: GraphRecorder;
  readonly config: DecoderConfig;
  readonly checkpoint: WeightSource;
  readonly precision: Precision;
  /** `stored`: products with weights of the precision. `int8`: integer products, for graphs of many rows. */
  readonly products: 'stored' | 'int8';
}

/** Weights are named like the checkpoint's: `model.layers.3.attn.qkv_proj.weight`. */
export function weightName(path: string, part: string): string {
  return `${path.slice(1).replaceAll('/', '.')}.${part}`;
}
