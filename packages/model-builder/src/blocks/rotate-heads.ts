// The rotation of queries and keys as an operator of its own, for models that norm what is rotated.

import { int, MICROSOFT } from '@ortler/onnx';
import type { GraphContext } from './block-context.ts';
import { POSITIONS } from './positions.ts';
import { rotaryTables } from './rotary.ts';

/** Rotates whole heads. Shape: `[batch, length, heads * headSize]`. */
export function rotateHeads(
  { graph, config }: GraphContext,
  layer: number,
  path: string,
  heads: { readonly query: string; readonly key: string },
): { readonly query: string; readonly key: string } {
  const { rope } = config.layers[layer]!;
  if (rope === undefined) return heads;
  const { cosine, sine } = rotaryTables(rope);
  const rotate = (part: 'q' | 'k', input: string) =>
    graph.op(`${path}/${part}_rotary/RotaryEmbedding`, 'RotaryEmbedding', [input, POSITIONS, cosine, sine], {
      domain: MICROSOFT,
      attributes: { interleaved: int(config.ropes[rope]!.isInterleaved ? 1 : 0) },
    });
  return { query: rotate('q', heads.query), key: rotate('k', heads.key) };
}
