// GGUF files against folders of the same values: tiny models of seeded blocks, in float32 and with the values of the file kept.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GGUF_TYPES, GgufModel, type GgufType } from '@ortler/gguf';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildModel } from '../src/build-model.ts';
import { GgufCheckpoint } from '../src/gguf/gguf-checkpoint.ts';
import { DecoderWeights } from '../src/hugging-face/decoder-weights.ts';
import { fileFormats } from '../src/kernels/file-formats.ts';
import { recordKernelsGraph } from '../src/kernels/kernels-graph.ts';
import { createTinyGguf, type TinyGguf } from '../src/testing/tiny-gguf.ts';
import { expectSameBits } from './same-bits.ts';
import { logitsOf, relativeError } from './slots-session.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { storedMatrices } from './unpack-tiles.ts';

const folder = temporaryFolder();
const prompt = Array.from({ length: 48 }, (_, i) => (i * 37 + 11) % 256);

/** Types whose values the kernels hold, and the format of each. */
const KEPT: Readonly<Partial<Record<GgufType, string>>> = {
  F32: 'f32',
  F16: 'f32',
  BF16: 'f32',
  Q8_0: 'q8',
  IQ4_NL: 'q8',
  Q4_0: 'q4',
  Q4_1: 'q4-min',
  Q5_0: 'q5',
  Q5_1: 'q5-min',
  Q4_K: 'q4-k',
  Q5_K: 'q5-k',
  Q6_K: 'q6-k',
  Q3_K: 'q6-k',
  MXFP4: 'q5',
};

/** Rows of whole super-blocks, heads that are not a multiple of a tile, and one head of keys for several of queries. */
const SHAPE = {
  hidden_size: 256,
  intermediate_size: 256,
  num_hidden_layers: 1,
  num_attention_heads: 8,
  num_key_value_heads: 2,
  head_dim: 32,
} as const;

/** The error of logits that rounding of activations may leave, root of mean squares. */
const EIGHT_BIT_ACTIVATIONS = 0.03;
const SIXTEEN_BIT_ACTIVATIONS = 2e-4;
/** With values that are rounded to 8 bits, and activations to 16. */
const EIGHT_BIT_WEIGHTS = 0.02;

async function build(
  sourceDir: string,
  name: string,
  precision: 'f32' | 'file',
  variant: 'kernels' | 'slots',
) {
  const outputDir = join(folder, name);
  const manifest = await buildModel({ sourceDir, outputDir, precision, variant, kvType: 'float32' });
  return { outputDir, manifest };
}

/** What a `file` build of the kernels stores. */
async function stored({ file, config }: TinyGguf) {
  const model = await GgufModel.open(file);
  const checkpoint = new GgufCheckpoint(model, config);
  const weights = new DecoderWeights(checkpoint, config);
  const parts = { config, weights, precision: 'file', kvType: 'float32' } as const;
  const matrices = await storedMatrices(recordKernelsGraph(parts, { formats: fileFormats(weights, config) }));
  await checkpoint.close();
  return matrices;
}

describe.each([
  ...GGUF_TYPES.map(type => ({ modelType: 'llama' as const, type })),
  // Its rows are in the order of the folder.
  ...(['Q8_0', 'Q4_1', 'Q6_K'] as const).map(type => ({ modelType: 'qwen3' as const, type })),
])('a $modelType in $type', ({ modelType, type }) => {
  const name = `${modelType}-${type}`;
  let tiny: TinyGguf;
  /** Of the folder of the dequantised values, in float32. */
  let expected: Float32Array[];
  let parameterCount: number;

  beforeAll(async () => {
    const tied = modelType === 'llama';
    const config = { ...SHAPE, tie_word_embeddings: tied };
    tiny = await createTinyGguf(join(folder, name), { modelType, config, typeOf: () => type });
    const source = await build(tiny.source, `${name}-source-f32`, 'f32', 'kernels');
    expected = await logitsOf(source.outputDir, prompt);
    ({ parameterCount } = source.manifest);
  });

  it('is in float32 bit for bit the folder of its dequantised values', async () => {
    const file = await build(tiny.file, `${name}-f32`, 'f32', 'kernels');
    expectSameBits(await logitsOf(file.outputDir, prompt), expected);
    expect(file.manifest.parameterCount).toBe(parameterCount);
  });

  it(`${KEPT[type] === undefined ? 'is stored in 8 bits' : 'keeps every value'} in the kernels`, async () => {
    const found = await stored(tiny);
    expect([...found.keys()].toSorted()).toEqual([...tiny.matrices.keys()].toSorted());
    for (const [matrix, values] of tiny.matrices) {
      const error = relativeError([found.get(matrix)!], [values]);
      if (KEPT[type] === undefined) expect(error, matrix).toBeLessThan(0.006);
      else expect(Float32Array.from(found.get(matrix)!), matrix).toEqual(values);
    }
  });

  it('has the logits of float32 with its values kept, but for the rounding of activations', async () => {
    const format = KEPT[type];
    const { outputDir, manifest } = await build(tiny.file, `${name}-file`, 'file', 'kernels');
    const error = relativeError(await logitsOf(outputDir, prompt), expected);
    if (format === 'f32') expect(error).toBeLessThan(1.4e-6);
    else if (format === 'q8') expect(error).toBeLessThan(SIXTEEN_BIT_ACTIVATIONS);
    else expect(error).toBeLessThan(format === undefined ? EIGHT_BIT_WEIGHTS : EIGHT_BIT_ACTIVATIONS);
    expect(manifest.precision).toBe('file');
    const rounded = format === undefined;
    const lists = { kept: rounded ? [] : [type], rounded: rounded ? [type] : [] };
    expect(manifest.fileTypes).toEqual(format === 'f32' ? undefined : lists);
    const formats = Object.values(manifest.weightFormats!).flatMap(counts => Object.keys(counts));
    expect(new Set(formats)).toEqual(new Set([format ?? 'q8']));
  });

  it("has them with ONNX Runtime's own operators too", async () => {
    const { outputDir, manifest } = await build(tiny.file, `${name}-slots`, 'file', 'slots');
    const error = relativeError(await logitsOf(outputDir, prompt), expected);
    expect(error).toBeLessThan(KEPT[type] === 'f32' ? 1e-5 : EIGHT_BIT_ACTIVATIONS);
    if (KEPT[type] === 'f32') return;
    const isKept = ['Q8_0', 'IQ4_NL', 'Q4_0', 'Q5_0', 'MXFP4'].includes(type);
    expect(manifest.fileTypes).toEqual({ kept: isKept ? [type] : [], rounded: isKept ? [] : [type] });
  });
});

describe('a file of mixed types', () => {
  /** As llama.cpp mixes them: some values and downs finer, the table in 8 bits; gates and ups that differ. */
  const types: Readonly<Record<string, GgufType>> = {
    embed_tokens: 'Q8_0',
    q_proj: 'Q4_0',
    k_proj: 'Q4_1',
    v_proj: 'Q6_K',
    o_proj: 'Q5_1',
    gate_proj: 'Q4_0',
    up_proj: 'Q5_0',
    down_proj: 'Q4_K',
  };
  const typeOf = (name: string) => types[name.split('.').at(-2)!]!;

  it('has for each matrix the smallest format that holds its values', async () => {
    const tiny = await createTinyGguf(join(folder, 'mixed'), { config: SHAPE, typeOf });
    const { outputDir, manifest } = await build(tiny.file, 'mixed-file', 'file', 'kernels');
    expect(manifest.weightFormats).toEqual({
      table: { q8: 1 },
      query: { q4: 1 },
      key: { 'q4-min': 1 },
      value: { 'q6-k': 1 },
      attentionOutput: { 'q5-min': 1 },
      gateUp: { q5: 1 },
      down: { 'q4-k': 1 },
    });
    expect(manifest.fileTypes).toEqual({
      kept: ['Q4_0', 'Q4_1', 'Q4_K', 'Q5_0', 'Q5_1', 'Q6_K', 'Q8_0'],
      rounded: [],
    });
    const { outputDir: exact } = await build(tiny.source, 'mixed-f32', 'f32', 'kernels');
    expect(relativeError(await logitsOf(outputDir, prompt), await logitsOf(exact, prompt))).toBeLessThan(
      EIGHT_BIT_ACTIVATIONS,
    );
    const found = await stored(tiny);
    for (const part of ['gate', 'up'])
      expect(Float32Array.from(found.get(`model.layers.0.mlp.${part}_proj.weight`)!)).toEqual(
        tiny.matrices.get(`model.layers.0.mlp.${part}_proj.weight`),
      );
  });

  it('as in Q4_K_M keeps all values; gates and ups of different K-quants are rounded to 8 bits', async () => {
    const mediumOf = (name: string) => (/v_proj|down_proj|embed/.test(name) ? 'Q6_K' : 'Q4_K');
    const medium = await createTinyGguf(join(folder, 'medium'), { config: SHAPE, typeOf: mediumOf });
    const kept = await build(medium.file, 'medium-file', 'file', 'kernels');
    expect(kept.manifest.fileTypes).toEqual({ kept: ['Q4_K', 'Q6_K'], rounded: [] });
    const { outputDir: exact } = await build(medium.source, 'medium-f32', 'f32', 'kernels');
    expect(relativeError(await logitsOf(kept.outputDir, prompt), await logitsOf(exact, prompt))).toBeLessThan(
      EIGHT_BIT_ACTIVATIONS,
    );
    const otherUps = (name: string) => (name.includes('up_proj') ? 'Q5_K' : mediumOf(name));
    const mixed = await createTinyGguf(join(folder, 'other-ups'), { config: SHAPE, typeOf: otherUps });
    const { manifest } = await build(mixed.file, 'other-ups-file', 'file', 'kernels');
    expect(manifest.weightFormats).toMatchObject({ gateUp: { q8: 1 }, down: { 'q6-k': 1 } });
    expect(manifest.fileTypes).toEqual({ kept: ['Q4_K', 'Q6_K'], rounded: ['Q4_K', 'Q5_K'] });
  });

  it('has float32 for all matrices of a product where one has floats', async () => {
    const floats = (name: string) => (name.includes('k_proj') ? 'F16' : typeOf(name));
    const tiny = await createTinyGguf(join(folder, 'floats'), { config: SHAPE, typeOf: floats });
    const { outputDir, manifest } = await build(tiny.file, 'floats-file', 'file', 'kernels');
    expect(manifest.weightFormats).toMatchObject({ query: { f32: 1 }, key: { f32: 1 }, value: { f32: 1 } });
    const { outputDir: exact } = await build(tiny.source, 'floats-f32', 'f32', 'kernels');
    expect(relativeError(await logitsOf(outputDir, prompt), await logitsOf(exact, prompt))).toBeLessThan(
      EIGHT_BIT_ACTIVATIONS,
    );
  });
});

describe('what a GGUF file says of a model', () => {
  const typeOf = () => 'F32' as const;

  it('gives biases to llama and qwen2, in the order of the folder', async () => {
    for (const [modelType, config] of [
      ['llama', { attention_bias: true, mlp_bias: true }],
      ['qwen2', { num_attention_heads: 4, num_key_value_heads: 1 }],
    ] as const) {
      const name = `biases-${modelType}`;
      const tiny = await createTinyGguf(join(folder, name), { modelType, config, typeOf });
      const file = await build(tiny.file, `${name}-f32`, 'f32', 'kernels');
      const source = await build(tiny.source, `${name}-source`, 'f32', 'kernels');
      expectSameBits(await logitsOf(file.outputDir, prompt), await logitsOf(source.outputDir, prompt));
    }
  });

  it('divides rotary frequencies by the factors of rope_freqs: llama3 scaling', async () => {
    const [factor, low, high, original] = [8, 1, 4, 64];
    const theta = 500_000;
    const half = 8;
    // As convert_hf_to_gguf.py computes them.
    const factors = Float32Array.from({ length: half }, (_, i) => {
      const wavelength = 2 * Math.PI * theta ** (i / half);
      if (wavelength < original / high) return 1;
      if (wavelength > original / low) return factor;
      const smooth = (original / wavelength - low) / (high - low);
      return 1 / ((1 - smooth) / factor + smooth);
    });
    expect(new Set(factors).size).toBeGreaterThan(2);
    const tiny = await createTinyGguf(join(folder, 'llama3'), {
      config: {
        rope_theta: theta,
        rope_scaling: {
          rope_type: 'llama3',
          factor,
          low_freq_factor: low,
          high_freq_factor: high,
          original_max_position_embeddings: original,
        },
      },
      typeOf,
      extraTensors: [
        { name: 'rope_freqs.weight', type: 'F32', dimensions: [half], bytes: new Uint8Array(factors.buffer) },
      ],
    });
    const file = await build(tiny.file, 'llama3-f32', 'f32', 'kernels');
    const source = await build(tiny.source, 'llama3-source', 'f32', 'kernels');
    // The factors are rounded to float32, the folder's frequencies after the division.
    expect(
      relativeError(await logitsOf(file.outputDir, prompt), await logitsOf(source.outputDir, prompt)),
    ).toBeLessThan(1e-5);
  });

  it('scales rotary frequencies linearly', async () => {
    const rope = {
      'llama.rope.scaling.type': 'linear',
      'llama.rope.scaling.factor': { float32: 4 },
    } as const;
    const config = { rope_scaling: { rope_type: 'linear', factor: 4 } };
    const tiny = await createTinyGguf(join(folder, 'linear'), { typeOf, config, metadata: rope });
    const file = await build(tiny.file, 'linear-f32', 'f32', 'kernels');
    const source = await build(tiny.source, 'linear-source', 'f32', 'kernels');
    expectSameBits(await logitsOf(file.outputDir, prompt), await logitsOf(source.outputDir, prompt));
  });

  it('becomes configuration and tokenizer files of the model folder', async () => {
    const tiny = await createTinyGguf(join(folder, 'companions'), { typeOf: () => 'Q4_0' });
    const { outputDir, manifest } = await build(tiny.file, 'companions-file', 'file', 'kernels');
    const read = async (file: string) => JSON.parse(await readFile(join(outputDir, file), 'utf8'));
    expect(Object.keys(manifest.files).toSorted()).toEqual([
      'config.json',
      'generation_config.json',
      'model.onnx',
      'model.onnx.data',
      'tokenizer.json',
      'tokenizer_config.json',
    ]);
    expect(await read('config.json')).toMatchObject({
      model_type: 'llama',
      hidden_size: 64,
      num_hidden_layers: 2,
      tie_word_embeddings: true,
    });
    expect(await read('generation_config.json')).toMatchObject({ eos_token_id: [274, 272] });
    expect(await read('tokenizer.json')).toMatchObject({ model: { type: 'BPE' } });
    expect(await read('tokenizer_config.json')).toMatchObject({ eos_token: '<|im_end|>' });
  });
});
