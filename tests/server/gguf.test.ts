// A GGUF file where a model is named: `ortler build`, `chat`, `serve` and `loadModel`.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTinyGguf } from '@ortler/model-builder/testing';
import { loadModel } from 'ortler';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { ORTLER } from '../support/server.ts';

const KEPT = 'file, because the GGUF file is quantised: values in Q4_1 are kept exactly';

let folder: string;
let file: string;
let settings: readonly string[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-gguf-'));
  ({ file } = await createTinyGguf(folder, { typeOf: () => 'Q4_1' }));
  settings = ['--data-dir', join(folder, 'data'), '--device', 'cpu'];
});
afterAll(() => rm(folder, { recursive: true }));

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function ortler(...args: readonly string[]): Promise<Outcome> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('ORTLER_')));
  return new Promise(resolve => {
    execFile(process.execPath, [...ORTLER, ...args], { env, cwd: folder }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

it('is built into a folder that is named after it, with a report of no loss', async () => {
  const { code, out } = await ortler('build', file, '--report');
  expect(code).toBe(0);
  const built = join(folder, 'model-file');
  expect(out).toContain(`Built ${built}\n`);
  expect(out).toContain(`${KEPT}\n`);
  expect(out).toMatch(/model\.layers\.0\.mlp\.down_proj\.weight +q4-min, was Q4_1 +5\.00 +0\.00 %/);
  expect(out).toMatch(/Perplexity: \d/);
  const manifest = JSON.parse(await readFile(join(built, 'ortler-model.json'), 'utf8'));
  expect(manifest).toMatchObject({ precision: 'file', fileTypes: { kept: ['Q4_1'], rounded: [] } });
});

it('is said to be kept where the precision is given', async () => {
  const { out } = await ortler('build', file, '--precision', 'file', '--output', join(folder, 'given'));
  expect(out).toContain('Of the file, values in Q4_1 are kept exactly.\n');
});

it('answers in a chat and through loadModel', async () => {
  const chat = await ortler('chat', 'Hello!', '--model', file, '--max-tokens', '4', ...settings);
  expect(chat).toMatchObject({ code: 0, err: expect.stringContaining(`built as ${KEPT}`) });
  // Its text may be empty: random weights end some answers at once.
  await using model = await loadModel(file, { cacheDir: join(folder, 'data', 'models'), device: 'cpu' });
  expect(model.engine.info).toMatchObject({ precision: 'file', modelType: 'llama' });
  const { usage } = await model.generateText('Hello!', { maxTokens: 4, temperature: 0 });
  expect(usage.completionTokenCount).toBeGreaterThan(0);
});

it('is served', async () => {
  const args = ['--models', `tiny=${file}`, '--port', '0', '--api-key', 'a-key', ...settings];
  const server = spawn(process.execPath, [...ORTLER, 'serve', ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let shown = '';
  server.stdout.on('data', text => (shown += String(text)));
  await vi.waitFor(() => expect(shown).toContain('ready in'), { timeout: 60_000 });
  expect(shown).toMatch(/model +tiny: llama, .*, file, /);
  const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(shown)!;
  const headers = { Authorization: 'Bearer a-key' };
  const listed = (await (await fetch(`${url}/v1/models`, { headers })).json()) as {
    data: { created: number }[];
  };
  expect(listed.data[0]!.created).toBeGreaterThan(1_700_000_000);
  server.kill('SIGTERM');
  await once(server, 'exit');
});

it('is refused by name where it cannot be', async () => {
  const adapter = await ortler('build', file, '--adapter', file);
  expect(adapter).toMatchObject({ code: 1, err: expect.stringContaining('adapters in GGUF are not read') });
  const gpu = await ortler('build', file, '--precision', 'file', '--device', 'gpu');
  expect(gpu.err).toContain('a "paged" graph has no precision file; it has f16, q8, q4');
  const absent = await ortler('chat', 'Hello!', '--model', 'absent.gguf', ...settings);
  expect(absent).toMatchObject({ code: 1, err: expect.stringContaining('absent.gguf does not exist') });
});
