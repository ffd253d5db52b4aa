// What every block is given besides its own inputs.

import type { Precision } from '@ortler/engine/graph-contract';
import type { GraphRecorder } from '@ortler/onnx';
import type { WeightSource } from '../hugging-face/checkpoint.ts';
import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import type { CodeBits } from '../weights/quantise.ts';
import type { Variant } from './variant.ts';

export interface BlockContext {
  readonly graph: GraphRecorder;
  readonly config: DecoderConfig;
  readonly checkpoint: WeightSource;
  readonly precision: Precision;
  readonly variant: Variant;
  /**
   * `blocks`: weights in the precision, q4 and q8 in blocks that share a scale. `int8`: integer products, where all tokens
   * of a call are rows along one axis, whichever sequence they are of.
   */
  readonly products: 'blocks' | 'int8';
  /**
   * How attention meets the cache. `plain`: numbers of the variant's type. `codes`: 8-bit codes, to which the operator rounds
   * and which it widens for each token again. `widened`: 8-bit codes that the graph itself rounds to and widens once, for
   * prompts.
   */
  readonly cache: 'plain' | 'codes' | 'widened';
  /** Name of the zero points of the rows at hand, for integer products; else empty. */
  readonly rowZeroPoints: string;
}

/** Bits of a quantised weight; undefined where weights are stored in the type of activations. */
export function weightBits(precision: Precision): CodeBits | undefined {
  if (precision === 'q4') return 4;
  return precision === 'q8' ? 8 : undefined;
}

/** Weights are named like the checkpoint's: `model.layers.3.attn.qkv_proj.weight`. */
export function weightName(path: string, part: string): string {
  return `${path.slice(1).replaceAll('/', '.')}.${part}`;
}
