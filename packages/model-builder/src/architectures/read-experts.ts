// What config.json says of a mixture of experts, in the keys that families share.

import { BIASED_EXPERT_MODULES, type ExpertsConfig, QWEN_EXPERTS } from '../hugging-face/experts-config.ts';
import type { ConfigReader, LayerPlan } from './architecture.ts';
import type { ConfigKeys } from './config-keys.ts';

/** Maximum number of experts of a layer, and of a token. Source: `packages/kernels/c/experts.h`. */
const MAX_EXPERTS = 1024;
const MAX_CHOSEN = 64;
/** Maximum number of groups of experts. Source: `packages/kernels/c/op-experts.c`. */
const MAX_GROUPS = 64;

/** Where config.json has the number of experts; some families have either name. */
export type CountKey = 'num_experts' | 'num_local_experts' | 'n_routed_experts' | 'moe_num_experts';

/** Where it has the number of experts of a token. */
export type ChosenKey = 'num_experts_per_tok' | 'moe_k' | 'moe_topk';

/** Scores by softmax, and no more than that. Throws: `config_invalid`, `unsupported`. */
export function readExperts(
  keys: ConfigKeys,
  reader: ConfigReader,
  features: Partial<ExpertsConfig> & { readonly countKey: CountKey; readonly chosenKey?: ChosenKey },
): ExpertsConfig {
  const { countKey, chosenKey = 'num_experts_per_tok', ...rest } = features;
  const other = countKey === 'num_local_experts' ? 'num_experts' : 'num_local_experts';
  const count = keys[countKey] ?? keys[other] ?? reader.invalid(countKey, 'is missing');
  const chosen = keys[chosenKey] ?? reader.invalid(chosenKey, 'is missing');
  if (count > MAX_EXPERTS) reader.refuse(countKey, `is ${count}; allowed: at most ${MAX_EXPERTS}`);
  if (count === 0) reader.invalid(countKey, 'is 0');
  if (chosen === 0) reader.invalid(chosenKey, 'is 0');
  if (chosen > count) reader.invalid(chosenKey, `is ${chosen}, but there are ${count} experts`);
  if (chosen > MAX_CHOSEN) reader.refuse(chosenKey, `is ${chosen}; allowed: at most ${MAX_CHOSEN}`);
  return {
    count,
    chosen,
    intermediateSize: keys.intermediate_size,
    latentSize: undefined,
    scoring: 'softmax',
    isNormalised: true,
    scale: 1,
    groups: undefined,
    routerBias: false,
    bias: false,
    gateLimit: undefined,
    modules: QWEN_EXPERTS,
    ...rest,
  };
}

/**
 * As DeepSeek-V3 chooses experts: by sigmoids with a bias, of the groups whose two highest scores have the largest sums. `scale` is the
 * factor where config.json has none. Throws: `config_invalid`, `unsupported`.
 */
export function sigmoidExperts(
  keys: ConfigKeys,
  reader: ConfigReader,
  scale: number,
): Partial<ExpertsConfig> {
  if (keys.topk_group === 0) reader.invalid('topk_group', 'is 0');
  return {
    scoring: 'sigmoid',
    isNormalised: keys.norm_topk_prob ?? true,
    scale: keys.routed_scaling_factor ?? scale,
    groups: (keys.n_group ?? 1) === 1 ? undefined : readGroups(keys, reader, 2),
    modules: BIASED_EXPERT_MODULES,
  };
}

/** Throws: `config_invalid`, `unsupported`. */
export function readGroups(
  keys: ConfigKeys,
  reader: ConfigReader,
  keyCount: 1 | 2,
): NonNullable<ExpertsConfig['groups']> {
  const { n_group: count, topk_group: chosen, n_routed_experts: experts } = keys;
  if (!count) return reader.invalid('n_group', 'is missing');
  if (!chosen) return reader.invalid('topk_group', 'is missing');
  const size = experts! / count;
  if (count > MAX_GROUPS) reader.refuse('n_group', `is ${count}; allowed: at most ${MAX_GROUPS}`);
  if (!Number.isInteger(size))
    reader.invalid('n_group', `is ${count}; it must divide n_routed_experts, ${experts}`);
  if (size < keyCount) reader.invalid('n_group', `is ${count}; groups must have ${keyCount} experts or more`);
  if (chosen > count) reader.invalid('topk_group', `is ${chosen}, but there are ${count} groups`);
  if (keys.num_experts_per_tok! > chosen * size)
    reader.invalid('topk_group', `is ${chosen}; its groups have fewer experts than num_experts_per_tok`);
  return { count, chosen, keyCount };
}

/** Which layers of Qwen have experts. Throws: `unsupported`. */
export function qwenExpertLayers(keys: ConfigKeys, reader: ConfigReader): (layer: number) => boolean {
  const step = keys.decoder_sparse_step ?? 1;
  if (step === 0) reader.refuse('decoder_sparse_step', 'must be above 0');
  return layer => (layer + 1) % step === 0 && !(keys.mlp_only_layers ?? []).includes(layer);
}

/** Ordinary layers first, by `first_k_dense_replace`, and then layers with experts. The architecture has a default of the key. */
export function expertsAfterFirst({ first_k_dense_replace: first }: ConfigKeys): (layer: number) => boolean {
  return layer => layer >= first!;
}

/** Layers without windows: an ordinary MLP, or experts beside an MLP of `sharedSize` that all tokens share. */
export function mixtureLayers(
  { intermediate_size: intermediateSize }: ConfigKeys,
  {
    sharedSize,
    hasExperts,
  }: { readonly sharedSize: number; readonly hasExperts: (layer: number) => boolean },
): LayerPlan['layer'] {
  return index => ({
    rope: 0,
    window: undefined,
    ...(hasExperts(index) ? { intermediateSize: sharedSize } : { hasExperts: false, intermediateSize }),
  });
}
