import type { GgufValue } from '@ortler/gguf';
import { expect, it } from 'vitest';
import { ggufFacts } from '../../test/gguf-facts.ts';
import { falconH1, graniteHybrid, nemotronH } from './mamba-architectures.ts';

const factsOf = (metadata: Readonly<Record<string, GgufValue>>) => ggufFacts(metadata, { headSize: 16 });

function mixer(architecture: string): Readonly<Record<string, GgufValue>> {
  const sizes = { conv_kernel: 4, state_size: 32, group_count: 2, time_step_rank: 8, inner_size: 128 };
  return Object.fromEntries(
    Object.entries(sizes).map(([name, size]) => [`${architecture}.ssm.${name}`, size]),
  );
}

it('reads which layers of Nemotron-H have keys, an MLP or Mamba-2', () => {
  const facts = factsOf({
    ...mixer('nemotron_h'),
    'nemotron_h.attention.head_count_kv': Int32Array.of(0, 0, 2),
    'nemotron_h.feed_forward_length': Int32Array.of(0, 96, 0),
  });
  expect(nemotronH.configKeys!(facts)).toMatchObject({
    layers_block_type: ['mamba', 'mlp', 'attention'],
    intermediate_size: 96,
    num_key_value_heads: 2,
    mamba_head_dim: 16,
  });
});

it('refuses lists of Nemotron-H of different lengths', () => {
  const facts = factsOf({
    ...mixer('nemotron_h'),
    'nemotron_h.attention.head_count_kv': Int32Array.of(0, 0, 2),
    'nemotron_h.feed_forward_length': Int32Array.of(0, 96),
  });
  expect(() => nemotronH.configKeys!(facts)).toThrow(
    expect.objectContaining({ code: 'config_invalid', key: 'nemotron_h.feed_forward_length' }),
  );
});

it.each([
  [false, 'nope'],
  [true, 'rope'],
])('rotates the attention of Granite 4 H by rope.scaling.finetuned: %s', (isFinetuned, expected) => {
  const facts = factsOf({
    ...mixer('granitehybrid'),
    'granitehybrid.attention.head_count_kv': Int32Array.of(0, 2),
    'granitehybrid.attention.scale': 0.4,
    'granitehybrid.logit_scale': 8,
    'granitehybrid.feed_forward_length': 96,
    'granitehybrid.expert_shared_feed_forward_length': 96,
    'granitehybrid.rope.scaling.finetuned': isFinetuned,
  });
  expect(graniteHybrid.configKeys!(facts)).toMatchObject({
    position_embedding_type: expected,
    layer_types: ['mamba', 'attention'],
    num_local_experts: 0,
    mamba_expand: 2,
  });
});

it('refuses Falcon-H1 whose embedding is the output matrix too, because its values have the factor of the embedding', () => {
  expect(() => falconH1.configKeys!(factsOf(mixer('falcon-h1')))).toThrow(
    expect.objectContaining({ code: 'unsupported', message: expect.stringContaining('output.weight') }),
  );
});
