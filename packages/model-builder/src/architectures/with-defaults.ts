// config.json with the values that it leaves out.

import type { Architecture } from './architecture.ts';

type Json = Readonly<Record<string, unknown>>;

/** Names of the same number; transformers writes another one than published files have. */
const EXPERT_COUNTS = ['num_experts', 'num_local_experts', 'n_routed_experts'] as const;

export function withDefaults({ defaults = {}, defaultsFrom }: Architecture, json: Json): Json {
  return { ...defaults, ...renamedCount(defaults, json), ...defaultsFrom?.(json), ...json };
}

/** The number of experts in place of its default, where config.json has it by another name. */
function renamedCount(defaults: Json, json: Json): Json {
  const named = EXPERT_COUNTS.find(key => json[key] !== undefined);
  if (named === undefined) return {};
  const others = EXPERT_COUNTS.filter(key => defaults[key] !== undefined && json[key] === undefined);
  return Object.fromEntries(others.map(key => [key, json[named]]));
}
