// GGUF files as sources of builds: what is found, cached, merged and refused.

import { copyFile, mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildModel } from '../src/build-model.ts';
import { explainPrecision } from '../src/choose-precision.ts';
import { ensureModel } from '../src/ensure-model.ts';
import { ModelBuildError } from '../src/errors.ts';
import { createTinyGguf, type TinyGguf, type TinyGgufOptions } from '../src/testing/tiny-gguf.ts';
import { writeAdapter } from '../src/testing/write-adapter.ts';
import { expectSameBits } from './same-bits.ts';
import { logitsOf, relativeError } from './slots-session.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();
const cacheDir = join(folder, 'cache');
const prompt = Array.from({ length: 24 }, (_, i) => (i * 37 + 11) % 256);
const typeOf = () => 'Q4_0' as const;

let made = 0;
async function tinyGguf(options: Partial<TinyGgufOptions> = {}): Promise<TinyGguf> {
  const own = join(folder, `model-${made++}`);
  return createTinyGguf(own, { typeOf, ...options });
}

async function refusal(sourceDir: string): Promise<ModelBuildError> {
  const error: unknown = await ensureModel({ sourceDir, cacheDir, precision: 'f32' }).catch(fault => fault);
  if (error instanceof ModelBuildError) return error;
  throw new Error('it was built', { cause: error });
}

let tiny: TinyGguf;
beforeAll(async () => {
  tiny = await tinyGguf();
});

describe('a GGUF file', () => {
  it('is built once into the cache, and again when its content changes', async () => {
    const own = await tinyGguf();
    const stages: string[] = [];
    const ensure = () =>
      ensureModel({
        sourceDir: own.file,
        cacheDir,
        precision: 'file',
        onProgress: ({ stage }) => stages.push(stage),
      });
    const first = await ensure();
    expect(basename(first)).toMatch(/^file-[0-9a-f]{32}$/);
    expect(stages).toContain('weights');
    stages.length = 0;
    expect(await ensure()).toBe(first);
    expect(stages).not.toContain('weights');
    const bytes = await readFile(own.file);
    bytes[bytes.length - 100]! ^= 1;
    await writeFile(own.file, bytes);
    expect(await ensure()).not.toBe(first);
  });

  it('is found as the one model of its folder, images aside', async () => {
    const own = join(folder, 'one');
    await mkdir(own);
    await copyFile(tiny.file, join(own, 'model.gguf'));
    await writeFile(join(own, 'mmproj-model-f16.gguf'), 'not read');
    await writeFile(join(own, 'config.json'), '{}');
    const built = await ensureModel({ sourceDir: own, cacheDir, precision: 'file' });
    expect(built).toBe(
      await ensureModel({ sourceDir: join(own, 'model.gguf'), cacheDir, precision: 'file' }),
    );
  });

  it('is not taken in place of safetensors beside it', async () => {
    await copyFile(tiny.file, join(tiny.source, 'model.gguf'));
    const outputDir = join(folder, 'beside');
    const { precision } = await buildModel({ sourceDir: tiny.source, outputDir, precision: 'f32' });
    expect(precision).toBe('f32');
    expect(JSON.parse(await readFile(join(outputDir, 'config.json'), 'utf8'))).toHaveProperty('torch_dtype');
    await rm(join(tiny.source, 'model.gguf'));
  });

  it('needs no extension', async () => {
    const blob = join(folder, 'blob');
    await copyFile(tiny.file, blob);
    expect((await readdir(await ensureModel({ sourceDir: blob, cacheDir, precision: 'f32' }))).length).toBe(
      7,
    );
  });

  it('in shards is one model, whichever of them or their folder is named', async () => {
    const own = await tinyGguf({ shardCount: 3 });
    const whole = await ensureModel({ sourceDir: tiny.file, cacheDir, precision: 'f32' });
    const built = await ensureModel({ sourceDir: own.file, cacheDir, precision: 'f32' });
    expectSameBits(await logitsOf(built, prompt), await logitsOf(whole, prompt));
    const last = own.file.replace('00001-of', '00003-of');
    expect(await ensureModel({ sourceDir: last, cacheDir, precision: 'f32' })).toBe(built);
    await rm(own.source, { recursive: true });
    const parent = join(own.file, '..');
    expect(await ensureModel({ sourceDir: parent, cacheDir, precision: 'f32' })).toBe(built);
  });

  it('takes an adapter: merged values are fitted anew', async () => {
    const [rows, width] = [128, 64];
    const pair = ['A', 'B'].map(part => ({
      name: `base_model.model.model.layers.0.mlp.gate_proj.lora_${part}.weight`,
      shape: part === 'A' ? [1, width] : [rows, 1],
      fill: (target: Float32Array, start: number) => {
        for (let i = 0; i < target.length; i++) target[i] = 0.3 * Math.sin(start + i);
      },
    }));
    const adapterDir = join(folder, 'adapter');
    await writeAdapter(adapterDir, { r: 1, lora_alpha: 1, target_modules: ['gate_proj'] }, pair);
    const build = (sourceDir: string, precision: 'f32' | 'file') =>
      ensureModel({ sourceDir, adapterDir, cacheDir, precision, kvType: 'float32' });
    const exact = await logitsOf(await build(tiny.source, 'f32'), prompt);
    expectSameBits(await logitsOf(await build(tiny.file, 'f32'), prompt), exact);
    const built = await build(tiny.file, 'file');
    expect(relativeError(await logitsOf(built, prompt), exact)).toBeLessThan(0.03);
    const manifest = JSON.parse(await readFile(join(built, 'ortler-model.json'), 'utf8'));
    expect(manifest.weightFormats.gateUp).toEqual({ q8: 1, q4: 1 });
    expect(manifest.fileTypes).toEqual({ kept: ['Q4_0'], rounded: ['Q4_0'] });
  });

  it('can be quantised anew when asked for', async () => {
    for (const precision of ['q8', 'q4'] as const) {
      const outputDir = join(folder, `anew-${precision}`);
      const manifest = await buildModel({ sourceDir: tiny.file, outputDir, precision });
      expect(manifest).toMatchObject({ precision });
      expect(manifest.fileTypes).toBeUndefined();
    }
  });

  it('is built for a GPU from its values', async () => {
    for (const precision of ['f16', 'q8'] as const) {
      const [file, source] = [tiny.file, tiny.source].map(path => ({
        sourceDir: path,
        outputDir: join(folder, `paged-${precision}-${basename(path)}`),
        variant: 'paged' as const,
        precision,
      }));
      const weightsOf = async (options: Parameters<typeof buildModel>[0]) =>
        (await buildModel(options)).files['model.onnx.data'];
      expect(await weightsOf(file!)).toBe(await weightsOf(source!));
    }
  });
});

describe('auto', () => {
  it('keeps the values of a quantised file, and says which are rounded', async () => {
    expect(await explainPrecision('auto', tiny.file, 'kernels')).toEqual({
      precision: 'file',
      reason: 'the GGUF file is quantised: values in Q4_0 are kept exactly',
    });
    expect((await explainPrecision('auto', tiny.file, 'kernels', join(folder, 'any'))).reason).toContain(
      'kept exactly; matrices that the adapter changes are rounded to 8 bits',
    );
    const config = { hidden_size: 256, intermediate_size: 256, head_dim: 64 };
    const mixed = await tinyGguf({ config, typeOf: name => (name.includes('_proj') ? 'Q2_K' : 'Q4_K') });
    const reason = 'the GGUF file is quantised: values in Q4_K are kept exactly; values in Q2_K are rounded';
    expect((await explainPrecision('auto', mixed.file, 'kernels')).reason).toContain(reason);
    expect((await explainPrecision('auto', mixed.file, 'slots')).reason).toContain(
      'values in Q2_K, Q4_K are rounded to 8 bits in blocks of 32',
    );
  });

  it('goes by the size of a file in floats, of any file for a GPU, and of one that cannot be read', async () => {
    const floats = await tinyGguf({ typeOf: () => 'BF16' });
    expect(await explainPrecision('auto', floats.file, 'kernels')).toMatchObject({ precision: 'f32' });
    expect(await explainPrecision('auto', tiny.file, 'paged')).toMatchObject({ precision: 'f16' });
    expect(await explainPrecision('auto', join(folder, 'none.gguf'), 'kernels')).toMatchObject({
      precision: 'f32',
    });
  });
});

describe('refuses', () => {
  it('a folder with several models, with their paths', async () => {
    const own = join(folder, 'several');
    await mkdir(own);
    for (const name of ['a.gguf', 'b.gguf']) await copyFile(tiny.file, join(own, name));
    expect(await refusal(own)).toMatchObject({
      code: 'source_invalid',
      message: expect.stringContaining(
        `give the path of one of them: ${join(own, 'a.gguf')}, ${join(own, 'b.gguf')}`,
      ),
    });
  });

  it('one file of a checkpoint', async () => {
    expect(await refusal(join(tiny.source, 'model.safetensors'))).toMatchObject({
      code: 'source_invalid',
      message: expect.stringContaining('give the path of its folder'),
    });
  });

  it('a truncated file, with the place', async () => {
    const own = await tinyGguf();
    await truncate(own.file, (await readFile(own.file)).length - 200);
    const error = await refusal(own.file);
    expect(error).toMatchObject({ code: 'weights_corrupt', file: own.file });
    expect(error.message).toMatch(/tensor "output_norm\.weight": is truncated/);
  });

  it('a file of another format', async () => {
    const path = join(folder, 'text.gguf');
    await writeFile(path, 'no model at all');
    expect(await refusal(path)).toMatchObject({ code: 'weights_corrupt', file: path });
  });

  it('an adapter in GGUF', async () => {
    const build = ensureModel({ sourceDir: tiny.file, adapterDir: tiny.file, cacheDir, precision: 'f32' });
    await expect(build).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('is a GGUF file; adapters are folders with adapter_config.json'),
    });
  });

  it.each([
    ['general.architecture', 'none', 'unsupported', 'is "none"; supported: llama, qwen2, qwen3'],
    [
      'general.architecture',
      'bailingmoe2',
      'unsupported',
      'is "bailingmoe2" (Ling, Ring), which would need support for its mixture of experts',
    ],
    ['general.architecture', 'bloom', 'unsupported', 'is "bloom" (BLOOM), which would need learned or ALiBi'],
    ['general.type', 'mmproj', 'unsupported', 'is "mmproj"; allowed: "model"'],
    ['llama.expert_used_count', 'two', 'config_invalid', 'allowed: one whole number above 0'],
    [
      'llama.attention.sliding_window',
      { uint32: 128 },
      'unsupported',
      'this architecture is built without windows',
    ],
    ['llama.attention.causal', false, 'unsupported', 'must be absent or true'],
    [
      'llama.rope.freq_base_swa',
      { float32: 5 },
      'unsupported',
      'is 5; it must be absent or that of all layers',
    ],
    ['llama.rope.dimension_sections', { int32s: [16, 24, 24, 0] }, 'unsupported', 'positions of images'],
    [
      'llama.rope.scaling.type',
      'longrope',
      'unsupported',
      'is "longrope"; supported: "none", "linear", "yarn"',
    ],
    ['llama.rope.dimension_count', { uint32: 8 }, 'unsupported', 'they must be equal'],
    ['llama.block_count', { int32s: [2, 2] }, 'unsupported', 'allowed: one whole number above 0'],
    ['llama.block_count', 'two', 'config_invalid', 'is "two"; allowed: one whole number above 0'],
    ['llama.rope.freq_base', { float32: -1 }, 'config_invalid', 'allowed: numbers above 0'],
  ] as const)('%s: %j', async (key, value, code, message) => {
    const experts = key === 'llama.expert_used_count' ? { 'llama.expert_count': { uint32: 8 } } : {};
    const own = await tinyGguf({ metadata: { ...experts, [key]: value } });
    const error = await refusal(own.file);
    expect(error).toMatchObject({ code, key, file: own.file });
    expect(error.message).toContain(`${own.file}, metadata key "${key}": `);
    expect(error.message).toContain(message);
  });

  it('a tokenizer that is not supported, before weights are built', async () => {
    const own = await tinyGguf({ metadata: { 'tokenizer.ggml.pre': 'other' } });
    const stages = new Set<string>();
    const build = ensureModel({
      sourceDir: own.file,
      cacheDir,
      precision: 'f32',
      onProgress: ({ stage }) => stages.add(stage),
    });
    await expect(build).rejects.toMatchObject({ code: 'unsupported', key: 'tokenizer.ggml.pre' });
    expect(stages).not.toContain('weights');
  });

  it('a number of layers that the file does not have', async () => {
    const own = await tinyGguf({ metadata: { 'llama.block_count': { uint32: 4_000 } } });
    expect(await refusal(own.file)).toMatchObject({ code: 'tensor_missing' });
    const absurd = await tinyGguf({ metadata: { 'llama.block_count': { uint32: 4_000_000_000 } } });
    expect(await refusal(absurd.file)).toMatchObject({ code: 'config_invalid', key: 'num_hidden_layers' });
  });

  it('dimensions that the metadata contradict', async () => {
    const own = await tinyGguf({ metadata: { 'llama.feed_forward_length': { uint32: 64 } } });
    expect(await refusal(own.file)).toMatchObject({
      code: 'tensor_mismatch',
      tensor: 'blk.0.ffn_gate.weight',
      message: expect.stringContaining('has dimensions [64,128]; the metadata ask for [64,64]'),
    });
  });

  it('a tensor that the model does not have', async () => {
    const extra = {
      name: 'blk.0.attn_sinks.weight',
      type: 'F32' as const,
      dimensions: [1],
      bytes: new Uint8Array(4),
    };
    const own = await tinyGguf({ extraTensors: [extra] });
    expect(await refusal(own.file)).toMatchObject({ code: 'unsupported', tensor: extra.name });
  });

  it('values that are not finite, in both ways of reading them', async () => {
    const own = await tinyGguf();
    const bytes = await readFile(own.file);
    const { GgufModel } = await import('@ortler/gguf');
    const model = await GgufModel.open(own.file);
    const { begin } = model.tensor('blk.1.ffn_down.weight')!;
    await model.close();
    bytes.writeUInt16LE(0x7c00, begin + 18);
    await writeFile(own.file, bytes);
    for (const precision of ['f32', 'file'] as const) {
      const build = ensureModel({ sourceDir: own.file, cacheDir, precision });
      await expect(build).rejects.toMatchObject({
        code: 'tensor_mismatch',
        tensor: 'blk.1.ffn_down.weight',
        message: expect.stringContaining('weights must be finite'),
      });
    }
  });

  it.each([
    [
      new Float32Array(4).fill(1),
      'has dimensions [4]; heads whose first 16 elements are rotated ask for [8]',
    ],
    [new Float32Array(8), 'has the factor 0; factors must be above 0'],
  ])('rotary factors that do not fit', async (factors, message) => {
    const bytes = new Uint8Array(factors.buffer);
    const extra = { name: 'rope_freqs.weight', type: 'F32' as const, dimensions: [factors.length], bytes };
    const own = await tinyGguf({ extraTensors: [extra] });
    expect(await refusal(own.file)).toMatchObject({
      code: 'tensor_mismatch',
      message: expect.stringContaining(message),
    });
  });
});
