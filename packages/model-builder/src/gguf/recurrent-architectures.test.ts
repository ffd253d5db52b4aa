import type { GgufValue } from '@ortler/gguf';
import { expect, it } from 'vitest';
import { ggufFacts } from '../../test/gguf-facts.ts';
import { logarithms } from './logarithms.ts';
import { lfm2Moe, qwen35 } from './recurrent-architectures.ts';

const factsOf = (metadata: Readonly<Record<string, GgufValue>>) => ggufFacts(metadata, { headSize: 64 });

it('refuses experts of LFM2 whose scores are not sigmoids', () => {
  const read = () => lfm2Moe.configKeys!(factsOf({ 'lfm2moe.expert_gating_func': 1 }));
  expect(read).toThrow(expect.objectContaining({ code: 'unsupported', key: 'lfm2moe.expert_gating_func' }));
});

const QWEN = {
  'qwen35.block_count': 5,
  'qwen35.nextn_predict_layers': 1,
  'qwen35.ssm.conv_kernel': 4,
  'qwen35.ssm.state_size': 32,
  'qwen35.ssm.group_count': 2,
  'qwen35.ssm.time_step_rank': 4,
  'qwen35.ssm.inner_size': 192,
} as const;

it('reads which layers of Qwen 3.5 are recurrent, without those that predict further tokens', () => {
  const flags = { 'qwen35.attention.recurrent_layers': [true, false, true, false, false] };
  expect(qwen35.configKeys!(factsOf({ ...QWEN, ...flags }))).toMatchObject({
    linear_value_head_dim: 48,
    layer_types: ['linear_attention', 'full_attention', 'linear_attention', 'full_attention'],
  });
  expect(qwen35.configKeys!(factsOf(QWEN))).not.toHaveProperty('layer_types');
});

it('refuses values that are not a whole number of heads', () => {
  const read = () => qwen35.configKeys!(factsOf({ ...QWEN, 'qwen35.ssm.inner_size': 190 }));
  expect(read).toThrow(expect.objectContaining({ key: 'qwen35.ssm.inner_size' }));
});

it('reads decays as their logarithms, and refuses those that are not below 0', async () => {
  const stored = Float32Array.of(-1, -Math.E, 0);
  const tensor = logarithms({
    name: 'decays',
    shape: [3],
    readFloats: async (from, target) => target.set(stored.subarray(from, from + target.length)),
  });
  const values = new Float32Array(2);
  await tensor.readFloats(0, values);
  expect(values[0]).toBe(0);
  expect(values[1]).toBeCloseTo(1, 6);
  await expect(tensor.readFloats(2, new Float32Array(1))).rejects.toMatchObject({ code: 'tensor_mismatch' });
});
