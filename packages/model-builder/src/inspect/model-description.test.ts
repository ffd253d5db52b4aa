import { expect, it } from 'vitest';
import { roleOf } from './model-description.ts';

it.each([
  ['model.layers.0.self_attn.q_proj.weight', 'attention'],
  ['model.layers.0.mlp.experts.3.up_proj.weight', 'experts'],
  ['model.layers.0.mlp.shared_experts.up_proj.weight', 'mlp'],
  ['model.layers.0.mlp.gate.weight', 'mlp'],
  ['blk.0.ffn_up_exps.weight', 'experts'],
  ['blk.0.ffn_up_shexp.weight', 'mlp'],
  ['backbone.layers.0.mixer.in_proj.weight', 'attention'],
  ['backbone.layers.0.mixer.up_proj.weight', 'mlp'],
  ['backbone.layers.0.mixer.gate.weight', 'mlp'],
  ['backbone.layers.0.mixer.experts.3.up_proj.weight', 'experts'],
  ['backbone.layers.0.mixer.shared_experts.up_proj.weight', 'mlp'],
])('%s is of the role %s', (name, role) => {
  expect(roleOf(name, [4, 4])).toBe(role);
});
