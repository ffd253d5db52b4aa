// Folders in the layout of onnxruntime-genai: their model folders, the choice among several, and refusals. The folders are those
// that its model builder wrote (golden/genai).

import { cp, mkdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MANIFEST_FILE, type Precision } from '@ortler/engine/graph-contract';
import { beforeEach, describe, expect, it } from 'vitest';
import { buildModel } from '../src/build-model.ts';
import { choosePrecision, explainPrecision } from '../src/choose-precision.ts';
import { type EnsureModelOptions, ensureModel } from '../src/ensure-model.ts';
import { temporaryFolder } from './temporary-folder.ts';

const GOLDEN = join(import.meta.dirname, 'golden', 'genai');
const folder = temporaryFolder();
let testCount = 0;
let root: string;
let source: string;
let cacheDir: string;

beforeEach(() => {
  root = join(folder, String(testCount++));
  source = join(root, 'source');
  cacheDir = join(root, 'cache');
});

const copy = (name: string, to = source) => cp(join(GOLDEN, name), to, { recursive: true });

async function readJson(dir: string, name: string): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(join(dir, name), 'utf8'));
}

const ensure = (options: Partial<EnsureModelOptions> = {}) =>
  ensureModel({ sourceDir: source, cacheDir, precision: 'f32', ...options });

/** Changes the settings file of `source`. */
async function edit(change: (config: { model: GenaiModel; search: Settings }) => void): Promise<void> {
  const file = join(source, 'genai_config.json');
  const config = JSON.parse(await readFile(file, 'utf8'));
  change(config);
  await writeFile(file, JSON.stringify(config));
}

type Settings = Record<string, unknown>;
interface GenaiModel extends Settings {
  readonly decoder: Settings & { readonly inputs: Settings; readonly outputs: Settings };
}

describe('a folder of onnxruntime-genai', () => {
  it.each([
    ['llama-f32', 'f32', 'llama'],
    ['qwen3-int4', 'q4', 'qwen3'],
    ['qwen2-int8', 'q8', 'qwen2'],
  ] as const)('%s has the precision %s, which auto chooses', async (name, precision, modelType) => {
    await copy(name);
    expect(await explainPrecision('auto', source, 'kernels')).toEqual({
      precision,
      reason: `the export has files in ${precision}`,
    });
    const path = await ensure({ precision });
    expect(await readJson(path, MANIFEST_FILE)).toMatchObject({
      ...{ variant: 'slots', precision, inputConvention: 'mask', graphFile: join(source, 'model.onnx') },
      ...{ modelType, layerCount: 2, headCount: 2, kvHeadCount: 1, headSize: 16, hiddenSize: 32 },
      ...{ vocabSize: 259, contextLength: 96, kvType: 'float32' },
    });
    for (const file of ['tokenizer.json', 'tokenizer_config.json', 'chat_template.jinja'])
      expect(await readFile(join(path, file))).toEqual(await readFile(join(source, file)));
  });

  it('gives its end tokens, and its sampling settings where it samples', async () => {
    await copy('qwen3-int4');
    const path = await ensure({ precision: 'q4' });
    expect(await readJson(path, 'generation_config.json')).toEqual({
      ...{ bos_token_id: 256, eos_token_id: [258, 256], pad_token_id: 256 },
      ...{ temperature: 0.7, top_k: 20, top_p: 0.8, repetition_penalty: 1 },
    });
  });

  it('gives no sampling settings where do_sample says that they are not in use', async () => {
    await copy('llama-f32');
    expect(await readJson(await ensure(), 'generation_config.json')).toEqual({
      ...{ bos_token_id: 256, eos_token_id: 258, pad_token_id: 256, repetition_penalty: 1 },
    });
  });

  it('with a generation_config.json of its own keeps those settings, and the tokens of genai_config.json', async () => {
    await copy('qwen3-int4');
    await writeFile(join(source, 'generation_config.json'), '{"eos_token_id": 1, "temperature": 0.3}');
    expect(await readJson(await ensure({ precision: 'q4' }), 'generation_config.json')).toEqual({
      ...{ bos_token_id: 256, eos_token_id: [258, 256], pad_token_id: 256, temperature: 0.3 },
    });
  });

  it('is the same model folder again until its settings, its weights or its place change', async () => {
    await copy('llama-f32');
    const first = await ensure();
    expect(await ensure()).toBe(first);
    await edit(({ model }) => {
      model.eos_token_id = 7;
    });
    const second = await ensure();
    expect(second).not.toBe(first);
    const data = join(source, 'model.onnx.data');
    const bytes = await readFile(data);
    bytes[1_000]! ^= 1;
    await writeFile(data, bytes);
    const third = await ensure();
    expect([first, second]).not.toContain(third);
    await rename(source, `${source}-moved`);
    expect(await ensure({ sourceDir: `${source}-moved` })).not.toBe(third);
  });

  it('is made again when a file of the model folder was damaged', async () => {
    await copy('qwen3-int4');
    const path = await ensure({ precision: 'q4' });
    const file = join(path, 'generation_config.json');
    const written = await readFile(file);
    await truncate(file, 5);
    expect(await ensure({ precision: 'q4' })).toBe(path);
    expect(await readFile(file)).toEqual(written);
  });

  it('may have its graph in a folder of its own', async () => {
    await copy('llama-f32');
    await mkdir(join(source, 'graphs'));
    for (const file of ['model.onnx', 'model.onnx.data'])
      await rename(join(source, file), join(source, 'graphs', file));
    await edit(({ model }) => {
      model.decoder.filename = 'graphs/model.onnx';
    });
    expect(await readJson(await ensure(), MANIFEST_FILE)).toMatchObject({
      graphFile: join(source, 'graphs', 'model.onnx'),
    });
  });

  it('for a GPU runs there in float16, also with norms in its attention', async () => {
    await copy('qwen3-webgpu');
    const path = await ensure({ precision: 'q4', variant: 'paged' });
    expect(await readJson(path, MANIFEST_FILE)).toMatchObject({ kvType: 'float16', logitsType: 'float16' });
  });

  it('with a sliding window in its graph is taken when its caches have the whole context', async () => {
    await copy('qwen2-window-whole');
    expect(await readJson(await ensure(), MANIFEST_FILE)).toMatchObject({ layerCount: 2 });
  });

  it('in float32 runs on the CPU, whatever provider it names', async () => {
    await copy('llama-f32');
    await edit(({ model }) => {
      model.decoder.session_options = { provider_options: [{ webgpu: {} }] };
    });
    expect(await readJson(await ensure({ variant: 'slots' }), MANIFEST_FILE)).toMatchObject({
      kvType: 'float32',
    });
  });

  it('may name a window as long as its context without having one', async () => {
    await copy('llama-f32');
    await edit(({ model }) => {
      const slides = { slide_inputs: false, slide_key_value_cache: false };
      model.decoder.sliding_window = { window_size: 96, ...slides };
    });
    expect(await readJson(await ensure(), MANIFEST_FILE)).toMatchObject({ contextLength: 96 });
  });

  it('needs no build, and the refusal names the command that serves it', async () => {
    await copy('llama-f32', join(source, 'cpu'));
    const build = buildModel({ sourceDir: source, outputDir: join(cacheDir, 'built'), precision: 'f32' });
    await expect(build).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/\(cpu\/model\.onnx\) and needs no build: .*ortler serve --models/),
    });
  });
});

describe('a repository with folders for several devices', () => {
  const graphFileFor = async (variant: 'slots' | 'paged', precision: Precision) =>
    (await readJson(await ensure({ precision, variant }), MANIFEST_FILE)).graphFile;

  it('gives each device its own', async () => {
    await copy('qwen3-int4', join(source, 'cpu_and_mobile', 'cpu-int4'));
    await copy('qwen3-webgpu', join(source, 'webgpu', 'webgpu-int4'));
    expect(await choosePrecision('auto', source, 'slots')).toBe('q4');
    expect(await graphFileFor('slots', 'q4')).toBe(join(source, 'cpu_and_mobile', 'cpu-int4', 'model.onnx'));
    expect(await graphFileFor('paged', 'q4')).toBe(join(source, 'webgpu', 'webgpu-int4', 'model.onnx'));
  });

  it('gives a GPU the one for the CPU where it has no other', async () => {
    await copy('llama-f32', join(source, 'cpu'));
    expect(await graphFileFor('paged', 'f32')).toBe(join(source, 'cpu', 'model.onnx'));
  });

  it('is refused with the list when several suit', async () => {
    await copy('qwen3-int4', join(source, 'cpu', 'a'));
    await copy('qwen2-int8', join(source, 'cpu', 'b'));
    await copy('qwen3-cuda', join(source, 'cuda'));
    await expect(ensure()).rejects.toMatchObject({
      code: 'unsupported',
      message: `${source} has models in the layout of onnxruntime-genai in subfolders: cuda (cuda), cpu/a (cpu), cpu/b (cpu); give the folder of one, such as ${join(source, 'cpu', 'a')}`,
    });
    await expect(choosePrecision('auto', source, 'slots')).rejects.toMatchObject({ code: 'unsupported' });
  });

  it('is refused with the list when none suits', async () => {
    await copy('qwen3-cuda', join(source, 'cuda'));
    await copy('llama-dml', join(source, 'directml'));
    await expect(ensure()).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/cuda \(cuda\), directml \(dml\); none of them is for this device/),
    });
  });

  it('does not hide graphs in the layout of Optimum', async () => {
    await copy('qwen3-int4', join(source, 'cpu'));
    await mkdir(join(source, 'onnx'));
    await writeFile(join(source, 'onnx', 'model_fp16.onnx'), '');
    await expect(ensure()).rejects.toMatchObject({
      message: expect.stringMatching(/it has model_fp16\.onnx/),
    });
  });
});

describe('a folder of onnxruntime-genai that cannot run', () => {
  const refusal = (options: Partial<EnsureModelOptions> = {}) => expect(ensure(options)).rejects;
  const unsupported = (message: RegExp) => ({
    code: 'unsupported',
    message: expect.stringMatching(message),
  });

  it.each([
    ['qwen3-cuda', 'f16', /caches or logits in float16/],
    ['llama-dml', 'f16', /caches or logits in float16/],
    ['qwen3-webgpu', 'q4', /caches or logits in float16/],
  ] as const)('on the CPU, %s, names the folder for the CPU beside it', async (name, precision, message) => {
    await copy(name, join(source, 'other', name));
    await cp(join(GOLDEN, 'llama-f32', 'tokenizer.json'), join(source, 'other', name, 'tokenizer.json'));
    await copy('qwen3-int4', join(source, 'cpu_and_mobile', 'cpu-int4'));
    const sourceDir = join(source, 'other', name);
    expect(await choosePrecision('auto', sourceDir, 'slots')).toBe(precision);
    await refusal({ sourceDir, precision }).toMatchObject(unsupported(message));
    await refusal({ sourceDir, precision }).toMatchObject(
      unsupported(/\(layout of onnxruntime-genai\).*on the CPU use .*cpu_and_mobile\/cpu-int4$/),
    );
  });

  it('says what the folder for the CPU is called where there is none beside it', async () => {
    await copy('qwen3-webgpu');
    await refusal({ precision: 'q4' }).toMatchObject(unsupported(/a folder such as cpu_and_mobile\/$/));
  });

  it('names its only precision when another is asked for', async () => {
    await copy('qwen3-int4');
    await refusal({ precision: 'q8' }).toMatchObject(
      unsupported(/has no graph of precision q8; it has model\.onnx: choose the precision q4$/),
    );
  });

  it.each([
    [
      'qwen2-window-bounded',
      /last tokens of a sliding window in its cache of layer 0.*windowed_kv_cache=false/,
    ],
    ['mistral-window-missing', /no sliding window, but .*genai_config\.json names one of 12 tokens/],
  ])('%s is refused, because longer texts would be computed wrongly', async (name, message) => {
    await copy(name);
    await cp(join(GOLDEN, 'llama-f32', 'tokenizer.json'), join(source, 'tokenizer.json'));
    await refusal().toMatchObject(unsupported(message));
  });

  it.each<[string, (model: GenaiModel) => void, RegExp]>([
    [
      'with a graph for images',
      model => {
        Object.assign(model, { type: 'phi3v', vision: { filename: 'vision.onnx' } });
      },
      /layout of onnxruntime-genai.*model\.vision: .*the model \(phi3v\) has other graphs beside the decoder \(vision\)/,
    ],
    [
      'with an encoder',
      model => {
        Object.assign(model, { type: 'whisper', encoder: { filename: 'encoder.onnx' } });
      },
      /model\.encoder: .*\(whisper\) has other graphs beside the decoder \(encoder\)/,
    ],
    [
      'with a pipeline',
      model => {
        model.decoder.pipeline = [{ embedding: { filename: 'embedding.onnx' } }];
      },
      /model\.decoder\.pipeline: splits the decoder of the model \(llama\) into several graphs/,
    ],
    [
      'with convolutions',
      model => {
        model.decoder.inputs.past_conv_names = 'past.%d.conv';
      },
      /past_conv_names: .*convolution layers \(LFM2, Qwen3\.5\) whose state is kept beside the KV cache/,
    ],
    [
      'with linear attention',
      model => {
        model.decoder.inputs.past_recurrent_names = 'past.%d.recurrent';
      },
      /past_recurrent_names: .*linear attention layers/,
    ],
    [
      'with paged attention',
      model => {
        model.decoder.inputs.block_table = 'block_table';
      },
      /block_table: .*PagedAttention \(use_paged_attention\)/,
    ],
    [
      'that takes embeddings',
      model => {
        model.decoder.inputs.inputs_embeds = 'inputs_embeds';
      },
      /inputs_embeds: .*takes embeddings/,
    ],
    [
      'with an unknown input',
      model => {
        model.decoder.inputs.current_sequence_length = 'current_sequence_length';
      },
      /current_sequence_length: names an input that no runner has; allowed: input_ids, attention_mask/,
    ],
    [
      'with other names of caches',
      model => {
        model.decoder.inputs.past_key_names = 'past_%d_key';
      },
      /past_key_names: is "past_%d_key"; only "past_key_values\.%d\.key" is run/,
    ],
    [
      'with another name of the logits',
      model => {
        model.decoder.outputs.logits = 'scores';
      },
      /outputs\.logits: is "scores"; only "logits" is run/,
    ],
    [
      'that moves its inputs with a window',
      model => {
        model.decoder.sliding_window = { window_size: 64 };
      },
      /sliding_window: moves its inputs or its KV cache with a window of fixed size/,
    ],
    [
      'with a graph outside the folder',
      model => {
        model.decoder.filename = '../model.onnx';
      },
      /filename: names a graph outside its folder/,
    ],
  ])('%s is refused by name', async (_, change, message) => {
    await copy('llama-f32');
    await edit(({ model }) => change(model));
    await refusal().toMatchObject(unsupported(message));
  });

  it.each<[string, (model: GenaiModel) => void, string]>([
    ['without a length of the context', model => delete model.context_length, 'model.context_length'],
    [
      'without a file name',
      model => {
        delete model.decoder.filename;
      },
      'model.decoder.filename',
    ],
    [
      'with other sizes than its graph',
      model => {
        model.decoder.num_hidden_layers = 3;
      },
      'model.decoder.num_hidden_layers',
    ],
  ])('%s is refused with the key', async (_, change, key) => {
    await copy('llama-f32');
    await edit(({ model }) => void change(model));
    await refusal().toMatchObject({ code: 'config_invalid', file: join(source, 'genai_config.json'), key });
  });

  it.each(['tokenizer.json', 'model.onnx', 'model.onnx.data'])('is refused without its %s', async name => {
    await copy('llama-f32');
    await rm(join(source, name));
    await refusal().toMatchObject({ code: 'source_invalid', file: join(source, name) });
  });

  it('takes no adapter', async () => {
    await copy('llama-f32');
    await refusal({ adapterDir: source }).toMatchObject(unsupported(/exported by another program/));
  });
});
