import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MANIFEST_FILE, type ModelManifest, VARIANT_KV_TYPES } from '../../graph-contract/index.ts';
import { readManifest } from './read-manifest.ts';

const MANIFEST: ModelManifest = {
  formatVersion: 2,
  variant: 'slots',
  precision: 'q4',
  modelType: 'llama',
  graphFile: 'model.onnx',
  layerCount: 2,
  headCount: 4,
  kvHeadCount: 2,
  headSize: 16,
  hiddenSize: 64,
  vocabSize: 288,
  contextLength: 512,
  kvType: 'float32',
  parameterCount: 1000,
  contentHash: 'abc',
};

describe('readManifest', () => {
  let dir: string;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'ortler-manifest-'));
  });

  afterAll(() => rm(dir, { recursive: true }));

  async function read(content: string): Promise<ModelManifest> {
    await writeFile(join(dir, MANIFEST_FILE), content);
    return readManifest(dir);
  }

  it('returns what the file says', async () => {
    expect(await read(JSON.stringify(MANIFEST))).toEqual(MANIFEST);
  });

  it.each(VARIANT_KV_TYPES.kernels)('takes a %s cache of the kernels', async kvType => {
    const manifest = { ...MANIFEST, variant: 'kernels', kvType };
    expect(await read(JSON.stringify(manifest))).toEqual(manifest);
  });

  it('takes float16 caches and logits of exports of other programs', async () => {
    const manifest = {
      ...MANIFEST,
      inputConvention: 'mask',
      precision: 'f16',
      kvType: 'float16',
      logitsType: 'float16',
    };
    expect(await read(JSON.stringify(manifest))).toEqual(manifest);
  });

  it.each([
    [{ formatVersion: 1 }, 'formatVersion must be 2; got 1.'],
    [{ variant: 'rows' }, 'variant must be kernels or slots or paged or device-slots; got "rows".'],
    [{ precision: 'q2' }, 'precision must be f32 or q8 or q4 or file with variant slots; got "q2".'],
    [{ precision: 'f16' }, 'precision must be f32 or q8 or q4 or file with variant slots; got "f16".'],
    [
      { variant: 'paged', precision: 'f32' },
      'precision must be f16 or q8 or q4 with variant paged; got "f32".',
    ],
    [
      { variant: 'kernels', precision: 'f16' },
      'precision must be f32 or q8 or q4 or file with variant kernels; got "f16".',
    ],
    [
      { variant: 'kernels', kvType: 'int4' },
      'kvType must be float32 or float16 or int8 with variant kernels; got "int4".',
    ],
    [{ kvType: 'float16' }, 'kvType must be float32 with variant slots; got "float16".'],
    [{ kvType: 'int8' }, 'kvType must be float32 with variant slots; got "int8".'],
    [{ variant: 'kernels', logitsType: 'float16' }, 'logitsType must be float32, or absent; got "float16".'],
    [{ variant: 'paged' }, 'kvType must be float16 with variant paged; got "float32".'],
    [{ layerCount: 0 }, 'layerCount must be a whole number above 0; got 0.'],
    [{ vocabSize: '288' }, 'vocabSize must be a whole number above 0; got "288".'],
    [
      { inputConvention: 'mask', precision: 'q2' },
      'precision must be f32 or f16 or q8 or q4 in an export; got "q2".',
    ],
    [
      { inputConvention: 'mask', kvType: 'int8' },
      'kvType must be float32 or float16 in an export; got "int8".',
    ],
    [{ logitsType: 'float16' }, 'logitsType must be float32, or absent; got "float16".'],
    [{ inputConvention: 'rows' }, 'inputConvention must be lengths or mask, or absent; got "rows".'],
    [{ graphFile: '' }, 'graphFile must be a text that is not empty; got "".'],
    [
      { variant: 'paged', kvType: 'float16', cudaGraphFile: 3 },
      'cudaGraphFile must be a text that is not empty, or absent; got 3.',
    ],
    [{ cudaGraphFile: 'm.onnx' }, 'cudaGraphFile must be absent with variant slots; got "m.onnx".'],
    [{ headCount: 5 }, 'headCount must be a multiple of kvHeadCount (2); got 5.'],
    [{ contextLength: undefined }, 'contextLength must be a whole number above 0; got nothing.'],
  ])('refuses %j with the file, the field and what is allowed', async (change, message) => {
    await expect(read(JSON.stringify({ ...MANIFEST, ...change }))).rejects.toMatchObject({
      code: 'model_invalid',
      message: `${join(dir, MANIFEST_FILE)}: ${message}`,
    });
  });

  const LAYER = { kvHeadCount: 2, headSize: 8 };

  it('reads caches of layers with a window, and of layers that read those of another', async () => {
    const layerCaches = [LAYER, { ...LAYER, window: 4 }, { ...LAYER, window: 4, kvSource: 1 }];
    await expect(read(JSON.stringify({ ...MANIFEST, layerCount: 3, layerCaches }))).resolves.toMatchObject({
      layerCaches,
    });
  });

  it.each([
    [[LAYER]],
    [[LAYER, { kvHeadCount: 2 }, LAYER]],
    [[LAYER, { ...LAYER, window: 0 }, LAYER]],
    [[{ ...LAYER, kvSource: 0 }, LAYER, LAYER]],
    [[LAYER, { ...LAYER, kvSource: -1 }, LAYER]],
    [[LAYER, { ...LAYER, kvSource: 0 }, { ...LAYER, kvSource: 1 }]],
  ])('refuses caches of three layers that are %j', async layerCaches => {
    const manifest = JSON.stringify({ ...MANIFEST, layerCount: 3, layerCaches });
    await expect(read(manifest)).rejects.toMatchObject({
      code: 'model_invalid',
      message: expect.stringContaining(
        'layerCaches must be 3 objects with kvHeadCount, headSize and, if any, window',
      ),
    });
  });

  it('reads experts, and refuses those without numbers', async () => {
    const experts = { count: 8, chosen: 2, weightBytes: 1000, activeParameterCount: 400 };
    await expect(read(JSON.stringify({ ...MANIFEST, experts }))).resolves.toMatchObject({ experts });
    for (const wrong of [{}, { ...experts, chosen: 0 }, { ...experts, weightBytes: '1000' }, 3])
      await expect(read(JSON.stringify({ ...MANIFEST, experts: wrong }))).rejects.toMatchObject({
        code: 'model_invalid',
        message: expect.stringContaining('experts must be an object with count, chosen, weightBytes'),
      });
  });

  it.each(['{', '[]', 'null'])('refuses a file that holds %s', async content => {
    await expect(read(content)).rejects.toMatchObject({ code: 'model_invalid' });
  });

  it('says how a model folder is made when there is no manifest', async () => {
    await expect(readManifest(join(dir, 'nowhere'))).rejects.toMatchObject({
      code: 'model_invalid',
      message: expect.stringContaining('ortler build'),
    });
  });

  it('says that a GGUF file has to be built', async () => {
    await expect(readManifest(join(dir, 'model.gguf'))).rejects.toMatchObject({
      code: 'model_invalid',
      message: expect.stringContaining('model.gguf is a GGUF file, which "ortler build" and loadModel'),
    });
  });
});
