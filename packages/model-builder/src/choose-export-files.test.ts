import { describe, expect, it } from 'vitest';
import { chooseExportFiles } from './choose-export-files.ts';

const MB = 1024 * 1024;

/** As repositories of onnx-community have them. */
const TRANSFORMERS_JS = {
  'config.json': 1,
  'tokenizer.json': 1,
  'onnx/model.onnx': 1,
  'onnx/model.onnx_data': 2_000 * MB,
  'onnx/model.onnx_data_1': 400 * MB,
  'onnx/model_fp16.onnx': 1_200 * MB,
  'onnx/model_int8.onnx': 600 * MB,
  'onnx/model_q4.onnx': 1,
  'onnx/model_q4.onnx_data': 900 * MB,
  'onnx/model_q4f16.onnx': 500 * MB,
  'onnx/model_bnb4.onnx': 900 * MB,
} as const;

type Options = Parameters<typeof chooseExportFiles>[1];

function choose(
  sizes: Readonly<Record<string, number>>,
  options: Partial<Options> = {},
  texts: Readonly<Record<string, string>> = {},
) {
  const files = Object.entries(sizes).map(([path, size]) => ({ path, size }));
  const readText = async (path: string) => texts[path]!;
  return chooseExportFiles({ files, readText }, { precision: 'auto', variant: 'kernels', ...options });
}

describe('of a repository in the layout of transformers.js', () => {
  it.each([
    ['f32', 'kernels', ['onnx/model.onnx_data', 'onnx/model.onnx_data_1', 'onnx/model.onnx']],
    ['q8', 'kernels', ['onnx/model_int8.onnx']],
    ['q4', 'slots', ['onnx/model_q4.onnx_data', 'onnx/model_q4.onnx']],
    ['q4', 'paged', ['onnx/model_q4f16.onnx']],
    ['f16', 'paged', ['onnx/model_fp16.onnx']],
    ['auto', 'kernels', ['onnx/model_q4.onnx_data', 'onnx/model_q4.onnx']],
    ['auto', 'paged', ['onnx/model_q4f16.onnx']],
  ] as const)('%s for %s takes one graph and its data', async (precision, variant, weights) => {
    expect(await choose(TRANSFORMERS_JS, { precision, variant })).toEqual({
      kind: 'chosen',
      folder: '',
      weights,
    });
  });

  it('auto takes float32 of a small model', async () => {
    expect(await choose({ 'onnx/model.onnx': 400 * MB, 'onnx/model_q4.onnx': 90 * MB })).toMatchObject({
      weights: ['onnx/model.onnx'],
    });
  });

  it('a precision that it lacks is refused with those that it has', async () => {
    expect(await choose(TRANSFORMERS_JS, { precision: 'f16' })).toMatchObject({
      kind: 'refused',
      fault: expect.stringMatching(
        /no graph of precision f16; it has model\.onnx, .+: choose the precision f32 or q8 or q4/,
      ),
    });
    expect(await choose({ 'onnx/decoder_model_merged.onnx': 1 })).toMatchObject({
      kind: 'refused',
      fault: expect.stringContaining('it has decoder_model_merged.onnx: none of them can run on the CPU'),
    });
  });
});

describe('of a repository of onnxruntime-genai', () => {
  const settings = (provider?: string) =>
    JSON.stringify({
      model: {
        decoder: {
          filename: 'model.onnx',
          session_options: { provider_options: provider === undefined ? [] : [{ [provider]: {} }] },
        },
      },
    });
  const PLAIN = 'cpu_and_mobile/cpu-int4-rtn-block-32';
  const FAST = `${PLAIN}-acc-level-4`;
  const FOLDERS = { [PLAIN]: settings(), [FAST]: settings(), 'gpu/cuda-fp16': settings('cuda') };
  const filesOf = (folders: readonly string[]) =>
    Object.fromEntries(
      folders.flatMap(folder =>
        ['genai_config.json', 'model.onnx', 'model.onnx.data', 'tokenizer.json'].map(name => [
          `${folder}/${name}`,
          1,
        ]),
      ),
    );
  const TEXTS = Object.fromEntries(
    Object.entries(FOLDERS).map(([folder, text]) => [`${folder}/genai_config.json`, text]),
  );

  it.each([
    ['auto', 'kernels', FAST],
    ['q4', 'slots', FAST],
    ['auto', 'paged', 'gpu/cuda-fp16'],
  ] as const)('%s for %s takes one folder', async (precision, variant, folder) => {
    expect(await choose(filesOf(Object.keys(FOLDERS)), { precision, variant }, TEXTS)).toEqual({
      kind: 'chosen',
      folder,
      weights: [`${folder}/model.onnx.data`, `${folder}/model.onnx`],
    });
  });

  it('the root may be the folder', async () => {
    const files = { 'genai_config.json': 1, 'model.onnx': 1, 'model.onnx.data': 1 };
    const chosen = await choose(files, {}, { 'genai_config.json': settings() });
    expect(chosen).toEqual({ kind: 'chosen', folder: '', weights: ['model.onnx.data', 'model.onnx'] });
  });

  it('what it lacks is refused with what it has', async () => {
    const files = filesOf(Object.keys(FOLDERS));
    expect(await choose(files, { precision: 'q8' }, TEXTS)).toMatchObject({
      fault: `has no folder for this device of precision q8; it has ${FAST} (cpu), ${PLAIN} (cpu), gpu/cuda-fp16 (cuda)`,
    });
    const { [`${FAST}/model.onnx`]: _, ...incomplete } = files;
    expect(await choose(incomplete, {}, TEXTS)).toMatchObject({
      fault: expect.stringContaining(`lacks ${FAST}/model.onnx`),
    });
    const broken = await choose(
      { 'a/genai_config.json': 1, 'a/m.onnx': 1 },
      {},
      { 'a/genai_config.json': '{' },
    );
    expect(broken).toMatchObject({ fault: expect.stringContaining('none that can be read') });
  });
});

it('a repository in neither layout is not known', async () => {
  expect(await choose({ 'model.onnx': 1, 'config.json': 1 })).toBeUndefined();
});
