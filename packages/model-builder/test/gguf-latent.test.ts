// GGUF files with latent attention beyond what converters make of the goldens: the layout of older files, matrices of heads in codes,
// and what is refused.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { dequantise } from '@ortler/gguf';
import { type FieldToWrite, seededBlocks } from '@ortler/gguf/testing';
import { expect, it } from 'vitest';
import { buildModel } from '../src/build-model.ts';
import { DECODER_GOLDENS, differenceFromGolden, type GoldenCase } from './decoder-golden.ts';
import { type GgufPlan, writeFamilyGguf } from './family-gguf.ts';
import { LATENT_MODULES, latentHeads, type TensorRule } from './gguf-rules.ts';
import { expectSameBits } from './same-bits.ts';
import { largestDifference, SlotsSession } from './slots-session.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();
const { cases, logitStride } = DECODER_GOLDENS.find(({ family }) => family === 'deepseek_v3')!;
const GOLDEN = cases.find(({ name }) => name.startsWith('scores as they are'))!;

const FIELDS: Readonly<Record<string, FieldToWrite>> = {
  expert_count: { uint32: 12 },
  expert_used_count: { uint32: 3 },
  expert_group_count: { uint32: 4 },
  expert_group_used_count: { uint32: 2 },
  expert_feed_forward_length: { uint32: 40 },
  expert_shared_count: { uint32: 3 },
  expert_weights_scale: { float32: 1.5 },
  leading_dense_block_count: { uint32: 2 },
  'attention.q_lora_rank': { uint32: 24 },
  'attention.kv_lora_rank': { uint32: 32 },
  'attention.head_count_kv': { uint32: 1 },
  'attention.key_length': { uint32: 48 },
  'attention.value_length': { uint32: 32 },
  'attention.key_length_mla': { uint32: 32 },
  'attention.value_length_mla': { uint32: 16 },
  'rope.dimension_count': { uint32: 16 },
};

const PLAN: GgufPlan = {
  architecture: 'deepseek2',
  rule: latentHeads,
  fields: FIELDS,
  modules: { ...LATENT_MODULES, 'self_attn.kv_b_proj': 'attn_kv_b' },
};

let buildCount = 0;

async function logitsOf(golden: GoldenCase, plan: GgufPlan, precision: 'f32' | 'file' = 'f32') {
  const place = join(folder, String(buildCount++));
  await mkdir(place, { recursive: true });
  const sourceDir = await writeFamilyGguf(place, golden, plan);
  const outputDir = join(place, 'built');
  await buildModel({ sourceDir, outputDir, precision, variant: 'kernels', kvType: 'float32' });
  const session = await SlotsSession.open(outputDir);
  const rows = await session.run([golden.prompts[0]!.tokens], [0]);
  await session.close();
  return rows;
}

it('reads files of older converters, whose matrices of heads are one', async () => {
  const { rule: _, ...plain } = PLAN;
  const {
    'attention.key_length_mla': keyLength,
    'attention.value_length_mla': valueLength,
    ...rest
  } = FIELDS as Readonly<Record<string, FieldToWrite>>;
  const fields = {
    ...rest,
    'attention.head_count_kv': { uint32: 4 },
    'attention.key_length': keyLength!,
    'attention.value_length': valueLength!,
  };
  const rows = await logitsOf(GOLDEN, { ...plain, fields });
  expect(differenceFromGolden(rows, GOLDEN.prompts[0]!, logitStride)).toBeLessThan(1e-4);
});

it('keeps codes of matrices of heads', async () => {
  const sizes: Readonly<Record<string, readonly number[]>> = {
    'q_b_proj.weight': [4 * 48, 24],
    'kv_b_proj.weight': [4 * 64, 32],
    'o_proj.weight': [64, 128],
  };
  const tensors = Object.fromEntries(
    Object.entries(GOLDEN.tensors).map(([name, [shape, scale, offset]]) => {
      const other = Object.entries(sizes).find(([end]) => name.endsWith(end))?.[1];
      return [name, [other ?? shape, scale, offset] as const];
    }),
  );
  const golden = { ...GOLDEN, tensors, config: { ...GOLDEN.config, qk_nope_head_dim: 32, v_head_dim: 32 } };
  const fields = {
    ...FIELDS,
    'attention.key_length_mla': { uint32: 48 },
    'attention.value_length_mla': { uint32: 32 },
  };
  const inBlocks =
    (isQuantised: boolean): TensorRule =>
    (tensor, config) =>
      latentHeads(tensor, config)?.map((each, i) => {
        const values = new Float32Array(each.values.length);
        const bytes = seededBlocks('Q8_0', values.length, 0.2, i);
        dequantise('Q8_0', bytes, values);
        return isQuantised ? { ...each, blocks: { type: 'Q8_0' as const, bytes } } : { ...each, values };
      });
  const quantised = { ...PLAN, fields, rule: inBlocks(true) };
  const expected = await logitsOf(golden, { ...quantised, rule: inBlocks(false) });
  expectSameBits(await logitsOf(golden, quantised), expected);
  const all = (rows: readonly Float32Array[]) => rows.flatMap(row => [...row]);
  expect(largestDifference(all(await logitsOf(golden, quantised, 'file')), all(expected))).toBeLessThan(0.05);
});

it.each([
  ['deepseek2.expert_gating_func', { expert_gating_func: { uint32: 3 } }],
  ['deepseek2.attention.temperature_scale', { 'attention.temperature_scale': { float32: 0.1 } }],
  ['deepseek2.rope.dimension_count', { 'rope.dimension_count': { uint32: 32 } }],
] as const)('refuses another %s', async (key, other) => {
  const plan = { ...PLAN, fields: { ...FIELDS, ...other } };
  await expect(logitsOf(GOLDEN, plan)).rejects.toMatchObject({ code: 'unsupported', key });
});
