// The dimension of the sequence, which operators take that compute one row of a batch, and values of other graphs do not have.

import type { GraphRecorder } from '@ortler/onnx';
import type { Variant } from './variant.ts';

interface SequenceContext {
  readonly graph: GraphRecorder;
  readonly variant: Pick<Variant, 'splitsSequence'>;
}

/** Shape: `[tokens, size]` to `[1, tokens, size]`; nothing where a variant has no need. */
export function splitSequence({ graph, variant }: SequenceContext, path: string, value: string): string {
  return variant.splitsSequence
    ? graph.op(`${path}/Unsqueeze`, 'Unsqueeze', [value, axis(graph, path)])
    : value;
}

/** The reverse. */
export function joinSequence({ graph, variant }: SequenceContext, path: string, value: string): string {
  return variant.splitsSequence ? graph.op(`${path}/Squeeze`, 'Squeeze', [value, axis(graph, path)]) : value;
}

function axis(graph: GraphRecorder, path: string): string {
  return graph.constant(`${path}/sequence_axis`, 'int64', [0]);
}
