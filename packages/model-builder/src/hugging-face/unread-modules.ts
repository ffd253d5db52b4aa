// Modules of layers that attend to the keys and values of another layer. Published files have them, from training, and transformers
// leaves them out.

import type { DecoderConfig } from './decoder-config.ts';

/** Names after the prefix of the model: `layers.15.self_attn.k_proj`. */
export function unreadModules({
  layers,
  modules,
}: Pick<DecoderConfig, 'layers' | 'modules'>): readonly string[] {
  return layers.flatMap(({ kvSource }, index) =>
    kvSource === undefined
      ? []
      : [modules.key, modules.value, modules.keyNorm].map(module => `layers.${index}.${module}`),
  );
}
