// The graph of a model in one variant.

import { isGpuVariant } from '@ortler/engine/graph-contract';
import { GraphRecorder } from '@ortler/onnx';
import { recordDecoderGraph } from './architectures/decoder-graph.ts';
import type { BlockContext } from './blocks/block-context.ts';
import { VARIANTS } from './blocks/variant.ts';
import type { BuildModelOptions } from './build-options.ts';
import { ModelBuildError } from './errors.ts';
import type { MatrixFormats } from './kernels/choose-formats.ts';
import { type KernelsGraphParts, recordKernelsGraph } from './kernels/kernels-graph.ts';

/** Throws: `unsupported` for `roundsActivations` in graphs without quantised weights, or that always round. */
export function recordGraph(
  { variant = 'kernels', roundsActivations = false, onMatrix }: BuildModelOptions,
  { skewed, ...parts }: KernelsGraphParts & Pick<BlockContext, 'skewed'>,
  formats: MatrixFormats | undefined,
): GraphRecorder {
  const { precision } = parts;
  if (roundsActivations && (!isGpuVariant(variant) || precision === 'f16')) {
    const message = `activations are rounded in graphs for GPUs of precision q8 or q4 only, not in "${variant}" ones of ${precision}`;
    throw new ModelBuildError('unsupported', message);
  }
  if (variant === 'kernels') return recordKernelsGraph(parts, { formats, onMatrix });
  const graph = new GraphRecorder();
  const { [variant]: plain } = VARIANTS;
  recordDecoderGraph({
    ...parts,
    skewed,
    graph,
    activation: plain.activation,
    variant: roundsActivations ? { ...plain, quantisedInputs: 'rounded to 8 bits' } : plain,
  });
  return graph;
}
