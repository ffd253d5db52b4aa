// GGUF files of every family that is read, against the logits that transformers computed for the same weights.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildModel } from '../src/build-model.ts';
import { DECODER_GOLDENS, differenceFromGolden } from './decoder-golden.ts';
import { type GgufPlan, writeFamilyGguf } from './family-gguf.ts';
import { SlotsSession } from './slots-session.ts';
import { temporaryFolder } from './temporary-folder.ts';

const SANDWICH = {
  post_attention_layernorm: 'post_attention_norm',
  pre_feedforward_layernorm: 'ffn_norm',
  post_feedforward_layernorm: 'post_ffw_norm',
};
const OLMO = {
  architecture: 'olmo2',
  modules: { post_attention_layernorm: 'post_attention_norm', post_feedforward_layernorm: 'post_ffw_norm' },
};
const WINDOW = { 'attention.sliding_window': { uint32: 12 } };
const GEMMA2: GgufPlan = { architecture: 'gemma2', modules: SANDWICH, addsOne: true, queryScalar: 24 };
const GEMMA3: GgufPlan = { ...GEMMA2, architecture: 'gemma3' };
const LLAMA: GgufPlan = { architecture: 'llama', permutes: true };
const YARN = {
  'rope.scaling.type': 'yarn',
  'rope.scaling.factor': { float32: 4 },
  'rope.scaling.original_context_length': { uint32: 32 },
};
const CAPS = { attn_logit_softcapping: { float32: 2 }, final_logit_softcapping: { float32: 3 } };

/** By `model_type` and name of the golden. */
const PLANS: Readonly<Record<string, Readonly<Record<string, GgufPlan>>>> = {
  gemma: {
    tied: { architecture: 'gemma', addsOne: true },
    'one key head, biases': { architecture: 'gemma', addsOne: true },
  },
  gemma2: { 'windows in every second layer, both caps': { ...GEMMA2, fields: { ...WINDOW, ...CAPS } } },
  gemma3_text: {
    'window but every sixth layer': { ...GEMMA3, fields: WINDOW },
    'linear rope scaling of full layers': {
      ...GEMMA3,
      fields: {
        ...WINDOW,
        'attention.sliding_window_pattern': { uint32: 3 },
        'rope.scaling.type': 'linear',
        'rope.scaling.factor': { float32: 8 },
      },
    },
    'both caps, biases': {
      ...GEMMA3,
      fields: { ...WINDOW, final_logit_softcapping: CAPS.final_logit_softcapping },
    },
  },
  llama: {
    'separate head': LLAMA,
    'biases everywhere, one key head': LLAMA,
    'yarn rope scaling': { ...LLAMA, fields: YARN },
  },
  mistral: { 'no window, heads narrower than hidden size over heads': LLAMA },
  olmo2: { 'separate head': OLMO, 'tied, all heads have keys': OLMO },
  olmo3: {
    'windows but every fourth layer': {
      ...OLMO,
      fields: { ...WINDOW, 'attention.sliding_window_pattern': { booleans: [true, true, true, false] } },
    },
    'yarn in full layers': { ...OLMO, fields: { ...WINDOW, ...YARN } },
    'layer types, tied': {
      ...OLMO,
      fields: { ...WINDOW, 'attention.sliding_window_pattern': { booleans: [false, true, false, true] } },
    },
  },
  cohere2: {
    'windows but every fourth layer': {
      architecture: 'cohere2',
      fields: { ...WINDOW, logit_scale: { float32: 0.75 } },
    },
  },
};

const folder = temporaryFolder();

describe.each(Object.entries(PLANS))('%s', (family, plans) => {
  const { cases, logitStride } = DECODER_GOLDENS.find(golden => golden.family === family)!;

  it.each(Object.entries(plans))('%s: every logit is within 1e-4 of transformers', async (name, plan) => {
    const golden = cases.find(each => each.name === name)!;
    const place = join(folder, family, name);
    await mkdir(place, { recursive: true });
    const sourceDir = await writeFamilyGguf(place, golden, plan);
    const outputDir = join(place, 'built');
    const { modelType } = await buildModel({ sourceDir, outputDir, precision: 'f32', variant: 'slots' });
    expect(modelType).toBe(family === 'mistral' ? 'llama' : family);
    for (const prompt of golden.prompts) {
      const session = await SlotsSession.open(outputDir, { capacity: 256 });
      const rows = await session.run([prompt.tokens], [0]);
      await session.close();
      expect(differenceFromGolden(rows, prompt, logitStride), `${prompt.tokens.length} tokens`).toBeLessThan(
        1e-4,
      );
    }
  });
});
