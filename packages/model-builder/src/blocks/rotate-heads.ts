// The rotation of queries and keys as an operator of its own, for models that norm what is rotated.

import { int, MICROSOFT } from '@ortler/onnx';
import type { GraphContext } from './block-context.ts';
import { POSITIONS } from './positions.ts';
import { rotaryTables } from './rotary.ts';
import { joinSequence, splitSequence } from './sequence-dimension.ts';
import type { Variant } from './variant.ts';

interface RotateContext extends GraphContext {
  readonly variant: Pick<Variant, 'splitsSequence'>;
}

/** Rotates whole heads. Shape: `[..., heads * headSize]`. */
export function rotateHeads(
  context: RotateContext,
  layer: number,
  path: string,
  heads: { readonly query: string; readonly key: string },
): { readonly query: string; readonly key: string } {
  const { graph, config } = context;
  const { rope } = config.layers[layer]!;
  if (rope === undefined) return heads;
  const { cosine, sine } = rotaryTables(rope);
  const rotate = (part: 'q' | 'k', input: string) => {
    const node = `${path}/${part}_rotary`;
    const rows = splitSequence(context, `${node}/input`, input);
    const rotated = graph.op(`${node}/RotaryEmbedding`, 'RotaryEmbedding', [rows, POSITIONS, cosine, sine], {
      domain: MICROSOFT,
      attributes: { interleaved: int(config.ropes[rope]!.isInterleaved ? 1 : 0) },
    });
    return joinSequence(context, `${node}/output`, rotated);
  };
  return { query: rotate('q', heads.query), key: rotate('k', heads.key) };
}
