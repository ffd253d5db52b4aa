// Mixtral: Mistral with experts of full size, the scores of which are those of the chosen ones alone.
// Source: transformers, models/mixtral/modeling_mixtral.py

import type { ExpertModules } from '../hugging-face/experts-config.ts';
import type { Architecture } from './architecture.ts';
import { uniformLayers } from './layer-windows.ts';
import { readExperts } from './read-experts.ts';

const EXPERTS: ExpertModules = {
  router: 'block_sparse_moe.gate',
  selectionBias: undefined,
  matrices: {
    layout: 'single',
    gate: 'block_sparse_moe.experts.*.w1',
    up: 'block_sparse_moe.experts.*.w3',
    down: 'block_sparse_moe.experts.*.w2',
  },
  shared: undefined,
};

export const mixtral: Architecture = {
  modelType: 'mixtral',
  names: 'Mixtral 8x7B and 8x22B',
  defaults: {
    num_local_experts: 8,
    num_experts_per_tok: 2,
    num_key_value_heads: 8,
    sliding_window: null,
  },
  read: (keys, reader) => ({
    experts: readExperts(keys, reader, { countKey: 'num_local_experts', modules: EXPERTS }),
    ...uniformLayers(keys, reader, reader.rope({ defaultTheta: 1e6 })),
  }),
};
