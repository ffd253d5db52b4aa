// Checks of a configuration against its weights that come before all others. Callers: the recorders of graphs.

import type { BlockContext } from '../blocks/block-context.ts';

/**
 * Checks the numbers of heads and layers before anything is allocated, because graphs build lists of that length first and a
 * corrupt number could exhaust memory. Throws: as `WeightSource.tensor`.
 */
export function checkExtent({ checkpoint, config }: Pick<BlockContext, 'checkpoint' | 'config'>): void {
  const { layerCount, headCount, headSize, hiddenSize } = config;
  checkpoint.tensor(`model.layers.${layerCount - 1}.input_layernorm.weight`, [hiddenSize]);
  checkpoint.tensor('model.layers.0.self_attn.q_proj.weight', [headCount * headSize, hiddenSize]);
}
