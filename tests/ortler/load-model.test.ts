// The front door on the demo model: a folder is built and loaded, and its four calls answer.

import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demoModel, loadModel, type Model } from 'ortler';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

const QUESTION = 'What is the capital of France?';

let cacheDir: string;
let model: Model;
const stages: string[] = [];

beforeAll(async () => {
  cacheDir = mkdtempSync(join(tmpdir(), 'ortler-models-'));
  const onBuildProgress = ({ stage }: { readonly stage: string }) => stages.push(stage);
  model = await loadModel(demoModel, { cacheDir, precision: 'q8', device: 'cpu', onBuildProgress });
});
afterAll(async () => {
  await model?.close();
  rmSync(cacheDir, { recursive: true, force: true });
});

describe('loadModel', () => {
  test('reports the progress of a build, and builds a folder once', async () => {
    expect(stages).toContain('weights');
    const seen: string[] = [];
    const onBuildProgress = ({ stage }: { readonly stage: string }) => seen.push(stage);
    await using again = await loadModel(demoModel, {
      cacheDir,
      precision: 'q8',
      device: 'cpu',
      onBuildProgress,
    });
    expect((await again.generateText(QUESTION, { temperature: 0 })).text).toContain('Paris');
    expect(seen).not.toContain('weights');
  });

  test('refuses a folder without a model, by name', async () => {
    await expect(loadModel(cacheDir, { cacheDir, device: 'cpu' })).rejects.toMatchObject({
      name: 'ModelBuildError',
      code: 'source_invalid',
      message: expect.stringContaining(cacheDir),
    });
  });

  test('refuses a template that cannot be parsed, before anything is fetched or built', async () => {
    const options = { cacheDir, device: 'cpu', chatTemplate: 'Hi\n{% if %}' } as const;
    await expect(loadModel('acme/no-such-model', options)).rejects.toMatchObject({
      code: 'model_invalid',
      message: expect.stringContaining('The option chatTemplate cannot be parsed at line 2: '),
    });
  });

  test.each([
    ['that does not exist', 'none', 'none does not exist'],
    ['without an adapter', '.', 'adapter_config.json does not exist'],
    ['that is a GGUF file', 'lora.gguf', 'is a GGUF file; adapters are folders with'],
  ])('refuses an adapter folder %s before anything is fetched or built', async (_, name, message) => {
    const options = { cacheDir, device: 'cpu', adapterDir: join(cacheDir, name) } as const;
    await expect(loadModel('acme/no-such-model', options)).rejects.toMatchObject({
      name: 'ModelBuildError',
      message: expect.stringContaining(message),
    });
  });

  test('refuses a wrong generation_config.json before a build, unless its defaults are not used', async () => {
    const source = join(cacheDir, 'wrong-defaults');
    cpSync(demoModel, source, { recursive: true });
    writeFileSync(join(source, 'generation_config.json'), '{"top_p": 7}');
    const onBuildProgress = ({ stage }: { readonly stage: string }) => {
      if (stage === 'weights') throw new Error('It was built.');
    };
    const options = { cacheDir, precision: 'q8', device: 'cpu' } as const;
    await expect(loadModel(source, { ...options, onBuildProgress })).rejects.toMatchObject({
      name: 'ModelBuildError',
      message: expect.stringContaining('generation_config.json of the model folder: '),
    });
    await using neutral = await loadModel(source, { ...options, modelDefaults: false });
    expect((await neutral.generateText(QUESTION, { temperature: 0 })).text).toContain('Paris');
  });

  test('an aborted signal ends it before anything is built', async () => {
    const signal = AbortSignal.abort(new Error('not now'));
    await expect(loadModel(demoModel, { cacheDir, device: 'cpu', signal })).rejects.toThrow('not now');
  });

  test('a signal that fires while the engine starts ends it too', async () => {
    const controller = new AbortController();
    const reason = new Error('too late');
    const onModelProcess = () => controller.abort(reason);
    const options = { cacheDir, precision: 'q8', device: 'cpu', link: 'process', onModelProcess } as const;
    await expect(loadModel(demoModel, { ...options, signal: controller.signal })).rejects.toBe(reason);
  });

  test.each([
    ['a misspelt option', demoModel, { devise: 'cpu' }, 'The option devise is unknown'],
    [
      'a device that does not exist',
      demoModel,
      { device: 'tpu' },
      'The option device must be auto, cpu, webgpu or cuda; got "tpu".',
    ],
    ['no object in place of those of the Hub', '/nowhere', { hub: null }, 'The option hub must be an object'],
    [
      'a misspelt option before it looks for the model',
      '/nowhere',
      { devise: 'cpu' },
      'The option devise is unknown',
    ],
    [
      'an option that it sets itself',
      '/nowhere',
      { isDeviceOptional: true },
      "The option isDeviceOptional is set by loadModel: with device 'auto'",
    ],
    [
      'a misspelt option of its own, and lists those',
      '/nowhere',
      { precison: 'q4' },
      /The option precison is unknown; there are precision, kvType, adapterDir, cacheDir, .*maxSequences/,
    ],
    [
      'a precision that does not exist before it looks for the model',
      '/nowhere',
      { precision: 'q5' },
      'The option precision must be one of auto, f32, f16, q8, q4, file; got q5.',
    ],
    [
      'a type of the KV cache that does not exist before that',
      '/nowhere',
      { kvType: 'int4' },
      'The option kvType must be one of float32, float16, int8; got int4.',
    ],
    [
      'a word that is neither a path nor a name, and says what names are',
      'llama3',
      {},
      '"llama3" is not a name on the Hub. Names are org/model,',
    ],
    [
      'a misspelt option of the Hub',
      '/nowhere',
      { hub: { cacheDri: '/x' } },
      'The option hub.cacheDri is unknown',
    ],
    ['a value out of range before that', '/nowhere', { maxSequences: 0 }, 'maxSequences must be'],
    ['no model', undefined, {}, 'by its name, such as org/model, or by its path; got none'],
    ['an empty name', '', {}, 'got none'],
  ])('refuses %s', async (_, name, options, message) => {
    const given = { cacheDir, precision: 'q8', device: 'cpu', ...options } as object;
    await expect(loadModel(name as string, given)).rejects.toThrow(message);
  });

  test.each([null, 'cpu'])('refuses %j in place of the options', async options => {
    await expect(loadModel('/nowhere', options as never)).rejects.toThrow(
      'The options must be an object; got ',
    );
  });
});

describe('a loaded model', () => {
  test('streams the text that it generates', async () => {
    // How many pieces it has is up to the reader: one who comes late gets them together.
    let text = '';
    for await (const piece of model.textStream(QUESTION, { temperature: 0 })) text += piece;
    const whole = await model.generateText(QUESTION, { temperature: 0 });
    expect(text).toBe(whole.text);
    expect(whole.text).toContain('Paris');
    expect(whole.finishReason).toBe('stop');
    expect(whole.usage.completionTokenCount).toBeGreaterThan(1);
  });

  test('loses no text in the obvious loop over its events', async () => {
    let text = '';
    for await (const event of model.stream(QUESTION, { temperature: 0 }))
      if (event.kind === 'token-delta') text += event.text;
    expect(text).toBe((await model.generateText(QUESTION, { temperature: 0 })).text);
  });

  test('gives reasoning apart from the answer', async () => {
    const template = { variables: { enable_thinking: true } };
    const { text, reasoning } = await model.generateText('What is 3 + 4?', { temperature: 0, template });
    expect(reasoning).not.toBe('');
    expect(text).not.toContain('think>');
    expect(text).toContain('7');
  });

  test('answers with an object of a Zod schema', async () => {
    const schema = z.object({ name: z.string(), age: z.int().min(0).max(150) });
    const prompt = 'Extract name and age as JSON: Maria is 34 years old.';
    const { object } = await model.generateObject(schema, prompt, { temperature: 0, maxTokens: 100 });
    expect(schema.safeParse(object).success).toBe(true);
  });

  test('ends with its signal', async () => {
    const controller = new AbortController();
    const stream = model.textStream(QUESTION, { signal: controller.signal, stop: [], minTokens: 200 });
    await stream.next();
    controller.abort();
    await expect(
      (async () => {
        for await (const _ of stream);
      })(),
    ).rejects.toMatchObject({ code: 'aborted' });
  });
});
