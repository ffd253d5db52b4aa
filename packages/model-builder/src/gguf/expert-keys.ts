// The keys of config.json that all mixtures of experts have.

import type { GgufFacts } from './gguf-architecture.ts';

/** Of `expert_gating_func`. Source: gguf-py, constants.py (ExpertGatingFuncType) */
const SIGMOID = 2;

export function expertKeys({ fields }: GgufFacts, architecture: string) {
  const count = fields.count(`${architecture}.expert_count`);
  return {
    // By any name that families have for it.
    num_experts: count,
    num_local_experts: count,
    n_routed_experts: count,
    num_experts_per_tok: fields.count(`${architecture}.expert_used_count`),
  };
}

/** Groups that experts are chosen of. Without their number all experts are one group. */
export function groupKeys({ fields }: GgufFacts, architecture: string) {
  const count = fields.optionalCount(`${architecture}.expert_group_count`) ?? 1;
  return {
    n_group: count,
    topk_group: fields.optionalCount(`${architecture}.expert_group_used_count`) ?? count,
  };
}

/** Throws: `unsupported` unless scores are sigmoids, as in all published models of the architecture. */
export function refuseOtherScores({ fields }: GgufFacts, architecture: string): void {
  const key = `${architecture}.expert_gating_func`;
  const scoring = fields.wholeNumber(key);
  if (scoring !== SIGMOID) fields.refuse(key, `is ${scoring}; allowed: ${SIGMOID}, the sigmoid`);
}
