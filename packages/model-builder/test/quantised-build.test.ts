// Quantised folders against folders of the same values in float32: tiny models of seeded codes.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildModel } from '../src/build-model.ts';
import { findCheckpoint } from '../src/checkpoint-source.ts';
import { explainPrecision } from '../src/choose-precision.ts';
import { DecoderWeights } from '../src/hugging-face/decoder-weights.ts';
import { SafetensorsFile } from '../src/hugging-face/safetensors.ts';
import { fileFormats } from '../src/kernels/file-formats.ts';
import { recordKernelsGraph } from '../src/kernels/kernels-graph.ts';
import {
  packAwq,
  packFloat8,
  packGptq,
  packIntegers,
  packPlainIntegers,
} from '../src/testing/quantised-layers.ts';
import {
  createTinyQuantised,
  type TinyQuantised,
  type TinyQuantisedOptions,
} from '../src/testing/tiny-quantised.ts';
import { type RawTensor, writeRawSafetensors } from '../src/testing/write-raw-safetensors.ts';
import { expectSameBits } from './same-bits.ts';
import { logitsOf, relativeError } from './slots-session.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { storedMatrices } from './unpack-tiles.ts';

const folder = temporaryFolder();
const prompt = Array.from({ length: 48 }, (_, i) => (i * 37 + 11) % 256);

/** Groups of 64 in every matrix. */
const SHAPE = {
  hidden_size: 128,
  intermediate_size: 256,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 32,
} as const;

/** Error of logits that a table in 8 bits and activations in 8 or 16 bits may leave, root of mean squares. */
const EIGHT_BIT_ACTIVATIONS = 0.03;
const SIXTEEN_BIT_ACTIVATIONS = 0.01;
/** With layers in 8 bits too. */
const EIGHT_BIT_WEIGHTS = 0.025;

interface Case extends Pick<TinyQuantisedOptions, 'quantisation' | 'pack' | 'modelType'> {
  readonly name: string;
  /** What reports call the layers. */
  readonly type: string;
  /** Of the kernels; undefined where none holds the values. */
  readonly format?: 'q4' | 'q5' | 'q8';
}

const gptq = (bits: number, keys: object = {}) => ({
  quant_method: 'gptq',
  bits,
  group_size: 64,
  checkpoint_format: 'gptq_v2',
  ...keys,
});

const CASES: readonly Case[] = [
  {
    name: 'GPTQ in 4 bits, symmetric',
    quantisation: gptq(4),
    pack: packGptq({ bits: 4, groupSize: 64, isSymmetric: true }),
    type: 'GPTQ 4-bit',
    format: 'q4',
  },
  {
    name: 'GPTQ in 4 bits with zero points',
    modelType: 'qwen2',
    quantisation: gptq(4, { sym: false }),
    pack: packGptq({ bits: 4, groupSize: 64, isSymmetric: false }),
    type: 'GPTQ 4-bit',
    format: 'q5',
  },
  {
    name: 'GPTQ in 8 bits, symmetric',
    modelType: 'qwen3',
    quantisation: gptq(8),
    pack: packGptq({ bits: 8, groupSize: 64, isSymmetric: true }),
    type: 'GPTQ 8-bit',
    format: 'q8',
  },
  {
    name: 'GPTQ in 4 bits with activation order',
    quantisation: gptq(4, { desc_act: true }),
    pack: packGptq({ bits: 4, groupSize: 64, isSymmetric: true, hasActOrder: true }),
    type: 'GPTQ 4-bit with act-order',
  },
];

const compressed = (format: string, weights: object) => ({
  quant_method: 'compressed-tensors',
  format,
  config_groups: { group_0: { targets: ['Linear'], weights } },
  ignore: ['lm_head'],
});

const MORE_CASES: readonly Case[] = [
  {
    name: 'AWQ',
    modelType: 'qwen2',
    quantisation: { quant_method: 'awq', bits: 4, group_size: 32, version: 'gemm', zero_point: true },
    pack: packAwq(32),
    type: 'AWQ 4-bit',
    format: 'q5',
  },
  {
    name: 'compressed-tensors W4A16',
    quantisation: compressed('pack-quantized', { num_bits: 4, group_size: 128, strategy: 'group' }),
    pack: packIntegers({ bits: 4, groupSize: 128, isSymmetric: true }),
    type: 'compressed-tensors INT4',
    format: 'q4',
  },
  {
    name: 'compressed-tensors W4A16 with zero points',
    quantisation: compressed('pack-quantized', { num_bits: 4, group_size: 32, symmetric: false }),
    pack: packIntegers({ bits: 4, groupSize: 32, isSymmetric: false }),
    type: 'compressed-tensors INT4',
    format: 'q5',
  },
  {
    name: 'compressed-tensors W8A8',
    modelType: 'qwen3',
    quantisation: compressed('int-quantized', { num_bits: 8, strategy: 'channel' }),
    pack: packPlainIntegers,
    type: 'compressed-tensors INT8',
    format: 'q8',
  },
  {
    name: 'FP8 in blocks',
    quantisation: { quant_method: 'fp8', fmt: 'e4m3', weight_block_size: [64, 64] },
    pack: packFloat8(64),
    type: 'FP8',
  },
];

async function build(
  sourceDir: string,
  name: string,
  precision: 'f32' | 'file' | 'q4',
  variant: 'kernels' | 'slots' = 'kernels',
) {
  const outputDir = join(folder, name);
  const manifest = await buildModel({ sourceDir, outputDir, precision, variant, kvType: 'float32' });
  return { manifest, logits: await logitsOf(outputDir, prompt) };
}

/** What a `file` build of the kernels stores. */
async function stored({ folder: quantised }: TinyQuantised) {
  const { config, weights: checkpoint } = await (await findCheckpoint(quantised)).open();
  const weights = new DecoderWeights(checkpoint, config);
  const parts = { config, weights, precision: 'file', kvType: 'float32' } as const;
  const graph = recordKernelsGraph(parts, { formats: fileFormats(weights, config) });
  const matrices = await storedMatrices(graph);
  await checkpoint.close();
  return matrices;
}

describe.each([...CASES, ...MORE_CASES])('a folder in $name', ({ name, type, format, ...options }) => {
  let tiny: TinyQuantised;
  let exact: Awaited<ReturnType<typeof build>>;

  beforeAll(async () => {
    tiny = await createTinyQuantised(join(folder, name), { config: SHAPE, ...options });
    exact = await build(tiny.source, `${name}-source`, 'f32');
  });

  it('is in float32 bit for bit the folder of its dequantised values', async () => {
    const { logits, manifest } = await build(tiny.folder, `${name}-f32`, 'f32');
    expectSameBits(logits, exact.logits);
    expect(manifest.parameterCount).toBe(exact.manifest.parameterCount);
  });

  it(`${format === undefined ? 'is stored in 8 bits' : 'keeps every value'} in the kernels`, async () => {
    const found = await stored(tiny);
    for (const [matrix, values] of tiny.matrices) {
      const written = found.get(matrix)!;
      if (format === undefined) expect(relativeError([written], [values]), matrix).toBeLessThan(0.008);
      else expect(Float32Array.from(written), matrix).toEqual(values);
    }
  });

  it.each(['kernels', 'slots'] as const)(
    'has the logits of float32 with its values kept in "%s"',
    async variant => {
      const { manifest, logits } = await build(tiny.folder, `${name}-${variant}`, 'file', variant);
      const error = relativeError(logits, exact.logits);
      if (variant === 'slots') expect(error).toBeLessThan(EIGHT_BIT_ACTIVATIONS);
      else if (format === 'q8') expect(error).toBeLessThan(SIXTEEN_BIT_ACTIVATIONS);
      else expect(error).toBeLessThan(format === undefined ? EIGHT_BIT_WEIGHTS : EIGHT_BIT_ACTIVATIONS);
      const rounded = format === undefined ? ['F32', type] : ['F32'];
      expect(manifest.fileTypes).toEqual({ kept: format === undefined ? [] : [type], rounded });
      if (variant === 'slots') return;
      expect(manifest.weightFormats).toMatchObject({ table: { q8: 1 }, down: { [format ?? 'q8']: 2 } });
    },
  );

  it('is what "auto" keeps, and says so', async () => {
    const { precision, reason } = await explainPrecision('auto', tiny.folder, 'kernels');
    expect(precision).toBe('file');
    expect(reason).toContain(`quantised (${type.split(' ')[0]}`);
    expect(reason).toContain('rounded to 8 bits in blocks of 32');
  });
});

it('goes by size on a GPU, whose graphs fit values anew', async () => {
  const tiny = await createTinyQuantised(join(folder, 'paged'), CASES[0]!);
  expect((await explainPrecision('auto', tiny.folder, 'paged')).precision).toBe('f16');
});

it('in q4 keeps codes of 4 bits', async () => {
  const { name, format: _, type: __, ...options } = CASES[0]!;
  const tiny = await createTinyQuantised(join(folder, 'q4'), { config: SHAPE, ...options });
  const { manifest } = await build(tiny.folder, `${name}-q4`, 'q4');
  expect(manifest.weightFormats).toMatchObject({ query: { q4: 2 }, gateUp: { q4: 2 }, down: { q4: 2 } });
});

it('refuses quantised layers that config.json does not declare', async () => {
  const tiny = await createTinyQuantised(join(folder, 'undeclared'), { ...CASES[0]!, quantisation: {} });
  const file = join(tiny.folder, 'config.json');
  const { quantization_config: _, ...config } = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify(config));
  await expect(build(tiny.folder, 'undeclared-f32', 'f32')).rejects.toMatchObject({
    code: 'unsupported',
    key: 'quantization_config',
    message: expect.stringContaining(
      'tensor "model.layers.0.self_attn.q_proj.qweight" belongs to a quantised layer',
    ),
  });
});

it('reads the text part of a model of text and images in FP8 with static activations, as Ministral 3 has it', async () => {
  const parts = packFloat8(512);
  const tiny = await createTinyQuantised(join(folder, 'wrapper'), {
    config: { ...SHAPE, tie_word_embeddings: false },
    quantisation: { quant_method: 'fp8', activation_scheme: 'static', weight_block_size: null },
    pack: layer => {
      const { tensors, values } = parts(layer);
      const scale = new Uint8Array(new Float32Array([0.5]).buffer);
      const name = `${layer.name}.activation_scale`;
      return { values, tensors: [...tensors, { name, type: 'F32', shape: [], bytes: scale }] };
    },
  });
  const exact = await build(tiny.source, 'wrapper-source', 'f32');
  const weights = await readSafetensors(join(tiny.folder, 'model.safetensors'));
  await writeRawSafetensors(
    join(tiny.folder, 'model.safetensors'),
    weights.map(tensor => ({ ...tensor, name: `language_model.${tensor.name}` })),
  );
  const file = join(tiny.folder, 'config.json');
  const { quantization_config, ...text } = JSON.parse(await readFile(file, 'utf8'));
  const wrapper = {
    model_type: 'mistral3',
    text_config: { ...text, model_type: 'mistral' },
    quantization_config,
  };
  await writeFile(file, JSON.stringify(wrapper));
  const { logits } = await build(tiny.folder, 'wrapper-f32', 'f32');
  expectSameBits(logits, exact.logits);
  const kept = await build(tiny.folder, 'wrapper-file', 'file');
  expect(kept.manifest.fileTypes).toEqual({ kept: [], rounded: ['F32', 'FP8'] });
  expect(relativeError(kept.logits, exact.logits)).toBeLessThan(EIGHT_BIT_WEIGHTS);
});

/** All tensors of a file with their bytes. */
async function readSafetensors(path: string): Promise<RawTensor[]> {
  const file = await SafetensorsFile.open(path);
  const tensors = await Promise.all(
    [...file.tensors.values()].map(async ({ name, type, shape, begin, end }) => {
      const bytes = new Uint8Array(end - begin);
      await file.read(bytes, begin);
      return { name, type, shape, bytes };
    }),
  );
  await file.close();
  return tensors;
}
