// The feed-forward block of one layer by the operators of the CPU kernels.

import { layerMatrices } from './decoder-matrices.ts';
import { biases, type KernelsContext, multiply, type NormedInput, tiles } from './kernels-context.ts';

/** Norm, `activation(gate) * up` or `activation(up)`. Shape: `[..., intermediate]`. */
export function mlpInner(context: KernelsContext, layer: number, input: NormedInput): string {
  const { activation, isGated } = context.config;
  const path = `/model/layers.${layer}/mlp/${isGated ? 'gate_up_proj' : 'up_proj'}`;
  return multiply(context, path, {
    ...input,
    matrices: [tiles(context, layerMatrices(context.config, layer).gateUp!)],
    bias: biases(context, path, layer, isGated ? ['gate', 'up'] : ['up']),
    activation,
    isGated,
  });
}
