// config.json with the values that it leaves out.

import type { Architecture } from './architecture.ts';

type Json = Readonly<Record<string, unknown>>;

/** Names of the same number; transformers writes another one than published files have. */
const EXPERT_COUNTS = ['num_experts', 'num_local_experts', 'n_routed_experts'] as const;

/** Null for `rope_parameters` stands for the default, as in transformers; for other keys it is a value of its own. */
export function withDefaults({ defaults = {}, defaultsFrom }: Architecture, json: Json): Json {
  const { rope_parameters: rotation, ...rest } = json;
  const given = rotation === null ? rest : json;
  return { ...defaults, ...renamedCount(defaults, json), ...defaultsFrom?.(json), ...given };
}

/** The number of experts in place of its default, where config.json has it by another name. */
function renamedCount(defaults: Json, json: Json): Json {
  const named = EXPERT_COUNTS.find(key => json[key] !== undefined);
  if (named === undefined) return {};
  const others = EXPERT_COUNTS.filter(key => defaults[key] !== undefined && json[key] === undefined);
  return Object.fromEntries(others.map(key => [key, json[named]]));
}
