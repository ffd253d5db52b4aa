// Models by their names, as a person types them in an empty folder: the command line and `loadModel` against a Hub on this
// machine that has the demo model.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalHub, readFolder, startHub, TEST_TOKEN } from '@ortler/hub/testing';
import { createTinyCheckpoint, writeAdapter, writeOptimumModel } from '@ortler/model-builder/testing';
import { HubError, loadModel } from 'ortler';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ORTLER, REPOSITORY } from '../support/server.ts';

const QUESTION = 'What is the capital of France?';
const NAME = 'ortler/demo';

let hub: LocalHub;
let folder: string;
beforeAll(async () => {
  const files = await readFolder(join(REPOSITORY, 'models/demo'));
  hub = await startHub({
    [NAME]: { files },
    'ortler/gated': { files, access: 'gated' },
    'ortler/quants': { files: { 'm-Q4_K_M.gguf': 'no model', 'm-Q8_0.gguf': 'no model' } },
  });
  folder = await mkdtemp(join(tmpdir(), 'ortler-names-'));
});
afterAll(async () => {
  await hub.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  hub.fault = () => undefined;
  hub.requests.length = 0;
});

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The environment of a person who has set nothing but the address of the Hub. */
function environment(cache: string): NodeJS.ProcessEnv {
  const others = Object.entries(process.env).filter(([name]) => !/^(ORTLER|HF)_/.test(name));
  return { ...Object.fromEntries(others), HF_ENDPOINT: hub.url, HF_HOME: join(folder, cache) };
}

function ortler(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Outcome> {
  return new Promise(resolve => {
    const child = execFile(
      process.execPath,
      [...ORTLER, ...args],
      { env: { ...environment('cache'), ...env }, cwd: folder },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
    child.stdin?.end();
  });
}

const NO_STACK = /^\s+at /m;

describe('a model by its name', () => {
  it('is downloaded, built and asked with one command, and needs no Hub afterwards', async () => {
    const chat = ['chat', NAME, QUESTION, '--temperature', '0', '--device', 'cpu'];
    const first = await ortler(chat);
    expect(first).toMatchObject({ code: 0, out: expect.stringContaining('Paris') });
    expect(first.err).toMatch(/ortler\/demo: 9\.7 MB to download; .+ of disk and .+ of memory/);
    expect(first.err).toContain('ortler/demo: downloading 0%');
    hub.requests.length = 0;
    const second = await ortler([...chat, '--offline']);
    expect(second).toEqual({ code: 0, out: first.out, err: '' });
    expect(hub.requests).toEqual([]);
  });

  it('is pulled, listed and removed', async () => {
    const snapshot = join(folder, 'cache/hub/models--ortler--demo/snapshots', hub.commit(NAME));
    expect(await ortler(['pull', NAME])).toMatchObject({ code: 0, out: `${snapshot}\n` });
    const quant = join(folder, 'cache/hub/models--ortler--quants/snapshots', hub.commit('ortler/quants'));
    expect(await ortler(['pull', 'hf.co/ortler/quants:q8_0'])).toMatchObject({
      code: 0,
      out: `${join(quant, 'm-Q8_0.gguf')}\n`,
    });
    expect(await ortler(['models', 'list'])).toEqual({
      code: 0,
      out: 'ortler/demo         9.7 MB  safetensors\nortler/quants:Q8_0     8 B  GGUF\n',
      err: '',
    });
    const asked = await ortler(['models', 'remove', 'ortler/quants:Q8_0']);
    expect(asked).toEqual({
      code: 1,
      out: '',
      err: 'There is no terminal to ask on. `ortler models remove ortler/quants:Q8_0 --yes` removes it without a question.\n',
    });
    const removed = await ortler(['models', 'remove', 'ortler/quants:Q8_0', '--yes']);
    expect(removed).toMatchObject({ code: 0, out: 'Removed ortler/quants:Q8_0 (8 B)\n' });
    expect((await ortler(['models', 'list'])).out).not.toContain('quants');
  });

  it('is inspected in the folder for temporary files, which is named where it takes none', async () => {
    const { code, err } = await ortler(['inspect', NAME], {
      HF_HOME: join(folder, 'empty'),
      TMPDIR: join(folder, 'none'),
      TEMP: join(folder, 'none'),
    });
    expect({ code, err }).toEqual({
      code: 1,
      err: `The folder for temporary files ${join(folder, 'none')} cannot be written: it does not exist. Choose another with the variable TMPDIR (on Windows TEMP).\n`,
    });
  });

  it('is inspected by its headers: nothing of it is downloaded, and nothing is kept', async () => {
    const inspected = await ortler(['inspect', NAME, '--device', 'cpu'], { HF_HOME: join(folder, 'empty') });
    expect(inspected).toMatchObject({ code: 0, err: '' });
    expect(inspected.out).toMatch(/architecture +llama: 6 layers of 256/);
    expect(inspected.out).toMatch(/download +9\.7 MB in \d files/);
    expect(inspected.out).toMatch(/device +CPU with .+ of memory/);
    expect(inspected.out).toMatch(/^ {2}q4 +\d+\.\d MB +weights \d\.\d MB +KV cache \d\.\d MB in float16$/m);
    const weights = hub.requests.filter(({ server }) => server === 'cdn');
    expect(weights.map(({ range }) => range)).toEqual(['bytes=0-262143']);
    expect(await readdir(folder)).not.toContain('empty');
    await ortler(['pull', NAME]);
    const json = await ortler(['inspect', NAME, '--json', '--context', '100']);
    expect(JSON.parse(json.out)).toMatchObject({
      ...{ contextLength: 100, download: { missingBytes: 0 }, precision: { precision: 'f32' } },
      model: { layout: 'safetensors', architecture: 'llama', shape: { layerCount: 6 } },
    });
  });

  it('is built ahead of time', async () => {
    const built = await ortler(['build', NAME, '--precision', 'q4', '--offline']);
    expect(built).toMatchObject({
      code: 0,
      out: expect.stringContaining(`Built ${join(folder, 'demo-q4')}\n`),
    });
    expect(await readdir(folder)).toContain('demo-q4');
  });

  it.each([
    [
      ['chat', 'ortler/nothing', 'Hi'],
      /ortler\/nothing does not exist at http.+Nor is there a folder ortler\/nothing here\./,
    ],
    [['pull', 'ortler/quants:Q6_K'], /ortler\/quants has no quantisation Q6_K\. It has Q4_K_M, Q8_0\./],
    [['pull', 'ortler/gated'], /ortler\/gated is gated\. Accept its licence at http.+HF_TOKEN/],
    [['pull', 'demo'], /"demo" is not a model name\. Names are org\/model/],
    [['pull', 'ortler/other', '--offline'], /ortler\/other is not, or not completely, in the cache/],
    [['serve', NAME, '--models', NAME], /as arguments or with --models, not both/],
    [['inspect', 'ortler/quants'], /^m-Q4_K_M\.gguf, the header: a GGUF file begins with "GGUF"/],
    [['inspect', NAME, '--context', '1000000'], /--context is 1000000; ortler\/demo has a context of 2048/],
    [['inspect', 'nothing'], /nothing does not exist/],
    [
      ['models', 'remove', 'ortler/other'],
      /ortler\/other is not in the cache .*models list` shows its models/,
    ],
  ])('explains the mistake in %j', async (args, message) => {
    const { code, out, err } = await ortler(args);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(message);
    expect(err).not.toMatch(NO_STACK);
  });

  it('opens a gated model with a token, which is shown nowhere', async () => {
    const pulled = await ortler(['pull', 'ortler/gated'], { HF_TOKEN: TEST_TOKEN });
    expect(pulled.code).toBe(0);
    const wrong = await ortler(['pull', 'ortler/gated'], { HF_TOKEN: 'hf_wrong' });
    expect(wrong.err).toContain('does not accept the token (401)');
    for (const { out, err } of [pulled, wrong]) expect(out + err).not.toMatch(/hf_(wrong|abc)/);
    expect(hub.requests.some(({ server, hasToken }) => server === 'cdn' && hasToken)).toBe(false);
  });
});

describe('a repository of ONNX graphs', () => {
  const OPTIMUM = 'ortler/tiny-ONNX';
  const GENAI = 'ortler/tiny-genai';
  beforeAll(async () => {
    const [checkpoint, exported] = [join(folder, 'checkpoint'), join(folder, 'exported')];
    await createTinyCheckpoint(checkpoint);
    for (const precision of ['f32', 'q4'] as const)
      await writeOptimumModel({ sourceDir: checkpoint, outputDir: exported, precision, logits: 'all' });
    hub.put(OPTIMUM, { files: await readFolder(exported) });
    const golden = join(REPOSITORY, 'packages/model-builder/test/golden/genai');
    const cpu = await readFolder(join(golden, 'qwen3-int4'));
    const webgpu = await readFolder(join(golden, 'qwen3-webgpu'));
    const inFolder = (name: string, files: Readonly<Record<string, Buffer>>) =>
      Object.entries(files).map(([path, content]) => [`${name}/${path}`, content] as const);
    hub.put(GENAI, {
      files: Object.fromEntries([...inFolder('cpu_and_mobile/cpu-int4', cpu), ...inFolder('webgpu', webgpu)]),
    });
  });
  const chat = (name: string, ...args: readonly string[]) =>
    ortler(['chat', name, 'Hi', '--temperature', '0', '--max-tokens', '4', '--device', 'cpu', ...args]);
  const fetched = () =>
    hub.requests
      .filter(({ server, url }) => server === 'hub' && url.includes('/resolve/'))
      .map(({ url }) => url.split('/').slice(5).join('/'));

  it('gives the graph of the precision, and nothing of the others', async () => {
    const answered = await chat(OPTIMUM, '--precision', 'q4');
    expect(answered).toMatchObject({ code: 0, out: expect.any(String) });
    expect(fetched()).toContain('onnx/model_q4.onnx');
    expect(fetched()).not.toContain('onnx/model.onnx');
    // It is the one of the cache that is taken offline.
    expect(await chat(OPTIMUM, '--precision', 'q4', '--offline')).toMatchObject({
      code: 0,
      out: answered.out,
    });
    expect((await chat(OPTIMUM, '--precision', 'f32', '--offline')).err).toContain(
      'is not, or not completely, in the cache',
    );
    expect((await ortler(['models', 'list'])).out).toMatch(/^ortler\/tiny-ONNX +.+ ONNX$/m);
  });

  it('gives the folder for the device, in the layout of onnxruntime-genai', async () => {
    expect(await chat(GENAI)).toMatchObject({ code: 0 });
    expect(fetched()).toContain('cpu_and_mobile/cpu-int4/model.onnx');
    expect(fetched().filter(path => path.startsWith('webgpu'))).toEqual(['webgpu/genai_config.json']);
  });

  it('is refused before a download for a precision that it lacks, and for a build', async () => {
    const lacking = await ortler(['pull', OPTIMUM, '--precision', 'q8', '--device', 'cpu']);
    expect(lacking.err).toMatch(
      /ortler\/tiny-ONNX has no graph of precision q8; it has model\.onnx, model_q4\.onnx/,
    );
    expect((await ortler(['build', OPTIMUM])).err).toContain('need no build: `ortler serve`');
    expect(fetched()).toEqual([]);
  });

  it('is refused before a download by loadModel with an adapter', async () => {
    const adapterDir = join(folder, 'lora');
    const module = 'base_model.model.model.layers.0.self_attn.q_proj';
    const tensors = ['A', 'B'].map(part => ({
      name: `${module}.lora_${part}.weight`,
      shape: part === 'A' ? [1, 64] : [64, 1],
      fill: (target: Float32Array) => void target.fill(0.5),
    }));
    await writeAdapter(adapterDir, { r: 1, lora_alpha: 1, target_modules: ['q_proj'] }, tensors);
    const hubOptions = { endpoint: hub.url, cacheDir: join(folder, 'adapted') };
    await expect(
      loadModel(OPTIMUM, { adapterDir, device: 'cpu', cacheDir: join(folder, 'built'), hub: hubOptions }),
    ).rejects.toThrow(`${OPTIMUM} has ONNX graphs only; an adapter is merged into the checkpoint`);
    expect(fetched()).toEqual([]);
  });

  it('is inspected', async () => {
    const { out } = await ortler(['inspect', OPTIMUM, '--device', 'cpu'], { HF_HOME: join(folder, 'none') });
    expect(out).toMatch(/format +ONNX, in the layout of Optimum and transformers\.js/);
    expect(out).toMatch(/architecture +llama: 2 layers of 64/);
    const genai = await ortler(['inspect', GENAI, '--device', 'cpu'], { HF_HOME: join(folder, 'none') });
    expect(genai.out).toMatch(/architecture +qwen3: \d layers/);
  });
});

describe('ortler serve', () => {
  it('listens while a model is downloaded, says how far it is, and serves it under its name', async () => {
    const slow = { kind: 'slow', pieceBytes: 100_000, pauseMs: 30 } as const;
    hub.fault = ({ server }) => (server === 'cdn' ? slow : undefined);
    const args = ['serve', NAME, '--port', '0', '--api-key', 'key', '--log-level', 'info', '--device', 'cpu'];
    const server = spawn(process.execPath, [...ORTLER, ...args], {
      cwd: folder,
      env: environment('served'),
    });
    let [told, logged] = ['', ''];
    server.stdout.on('data', text => (told += String(text)));
    server.stderr.on('data', text => (logged += String(text)));
    try {
      await vi.waitFor(() => expect(told).toContain('curl http'), { timeout: 60_000 });
      const url = /http:\S+:\d+/.exec(told)![0];
      const health = async () => (await fetch(`${url}/health`)).json() as Promise<unknown>;
      await vi.waitFor(
        async () =>
          expect(await health()).toMatchObject({
            status: 'loading',
            models: [
              { id: NAME, state: 'loading', detail: expect.stringMatching(/^downloading, \d+% of 9\.7 MB$/) },
            ],
          }),
        { timeout: 30_000, interval: 20 },
      );
      await vi.waitFor(() => expect(told).toContain('ready in'), { timeout: 90_000 });
      expect(told).toContain('ortler/demo: downloading 50%');
      expect(logged).toContain('"msg":"downloading, 50 %"');
      const reply = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: 'Bearer key', 'content-type': 'application/json' },
        body: JSON.stringify({
          model: NAME,
          temperature: 0,
          messages: [{ role: 'user', content: QUESTION }],
        }),
      });
      expect(await reply.json()).toMatchObject({
        model: NAME,
        choices: [{ message: { content: expect.stringContaining('Paris') } }],
      });
      const models = await fetch(`${url}/v1/models`, { headers: { authorization: 'Bearer key' } });
      expect(await models.json()).toMatchObject({
        data: [{ id: NAME, created: expect.toSatisfy((at: number) => at > 0) }],
      });
    } finally {
      if (server.kill('SIGTERM')) await once(server, 'exit');
    }
  });
});

describe('loadModel', () => {
  it('takes a name, and reports the download', async () => {
    const stages = new Set<string>();
    const hubOptions = { endpoint: hub.url, cacheDir: join(folder, 'loaded') };
    const options = { device: 'cpu', precision: 'q8', cacheDir: join(folder, 'builds') } as const;
    await using model = await loadModel(NAME, {
      ...options,
      hub: hubOptions,
      onDownloadProgress: ({ stage }) => stages.add(stage),
    });
    expect((await model.generateText(QUESTION, { temperature: 0 })).text).toContain('Paris');
    expect([...stages]).toEqual(['download', 'check']);
    await using again = await loadModel(NAME, { ...options, hub: { ...hubOptions, offline: true } });
    expect(again.engine.info.precision).toBe('q8');
  });

  it('rejects with the error of the Hub, and with its signal', async () => {
    const options = { device: 'cpu', hub: { endpoint: hub.url, cacheDir: join(folder, 'loaded') } } as const;
    await expect(loadModel('ortler/nothing', options)).rejects.toBeInstanceOf(HubError);
    const signal = AbortSignal.abort(new Error('not now'));
    await expect(loadModel('ortler/gated', { ...options, signal })).rejects.toThrow('not now');
  });
});
