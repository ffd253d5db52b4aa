// Mistral 7B, Nemo and Small: Llama with a head size of its own and, in the first versions, a window in all layers. Ministral 3 has
// queries that grow with their position.
// Source: transformers, models/mistral/modeling_mistral.py and models/ministral3/modeling_ministral3.py

import type { Architecture } from './architecture.ts';
import { uniformLayers } from './layer-windows.ts';

export const mistral: Architecture = {
  modelType: 'mistral',
  names: 'Mistral 7B, Mistral Nemo, Mistral Small, Codestral, Zephyr',
  defaults: { sliding_window: 4096 },
  read: uniformLayers,
};

/** Key of the rotary settings for the scale of queries. */
const GROWTH_KEY = 'llama_4_scaling_beta';

export const ministral3: Architecture = {
  modelType: 'ministral3',
  names: 'Ministral 3 (text)',
  defaults: { head_dim: 128, sliding_window: null },
  read(keys, reader) {
    const block = keys.rope_parameters === undefined ? 'rope_scaling' : 'rope_parameters';
    const settings = keys[block] ?? reader.refuse(block, 'must be there, as it says how queries grow');
    const growth = settings[GROWTH_KEY];
    if (typeof growth !== 'number') return reader.invalid(`${block}.${GROWTH_KEY}`, 'must be a number');
    const period = settings.original_max_position_embeddings ?? keys.max_position_embeddings;
    if (typeof period !== 'number' || !Number.isSafeInteger(period) || period <= 0)
      return reader.invalid(`${block}.original_max_position_embeddings`, 'must be a whole number above 0');
    return { ...uniformLayers(keys, reader), queryScale: { growth, period } };
  },
};
