// Tensors of a checkpoint that no graph needs.

import { LM_HEAD_WEIGHT } from '../blocks/lm-head.ts';

/** A stored copy of a tied head, which `checkTiedHead` compares, and old rotary tables, which transformers ignores. */
export function hasNoEffect(name: string): boolean {
  return name === LM_HEAD_WEIGHT || name.endsWith('.rotary_emb.inv_freq');
}
