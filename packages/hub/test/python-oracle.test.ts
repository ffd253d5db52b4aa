// huggingface_hub in Python on the same Hub: it makes the same cache, it uses ours, and we use its. TEST_PYTHON names a Python that
// has it (`.ci/run` makes one).

import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fetchModel } from '@ortler/hub';
import { expect, test } from 'vitest';
import { checkpointFiles, describeTree, seededBytes, temporaryHub } from './temporary-hub.ts';

const { TEST_PYTHON } = process.env;
const NEEDED = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors', 'x/*.gguf'];

const files = {
  ...checkpointFiles(),
  'x/m-Q8_0-00001-of-00002.gguf': seededBytes(50_000, 5),
  'x/m-Q8_0-00002-of-00002.gguf': 'y',
};

interface Python {
  readonly path: string;
  readonly version: string;
}

async function snapshotDownload(
  env: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<Python> {
  const script = join(import.meta.dirname, 'snapshot_download.py');
  const settings = Object.entries(process.env).filter(([name]) => !name.startsWith('HF_'));
  const { stdout } = await promisify(execFile)(TEST_PYTHON!, [script, ...args], {
    env: {
      ...Object.fromEntries(settings),
      HF_HUB_DISABLE_TELEMETRY: '1',
      HF_HUB_DISABLE_PROGRESS_BARS: '1',
      ...env,
    },
  });
  return JSON.parse(stdout) as Python;
}

/** The files of a model in a cache; locks and lists of files, which are each program's own, are left out. */
async function modelTree(cacheDir: string): Promise<Readonly<Record<string, string>>> {
  const tree = Object.entries(await describeTree(join(cacheDir, 'models--org--model')));
  return Object.fromEntries(tree.filter(([path]) => !path.startsWith('trees/')));
}

test.skipIf(TEST_PYTHON === undefined)('makes the same cache, byte for byte and link for link', async () => {
  const { hub, cacheDir, options } = await temporaryHub({ 'org/model': { files } });
  await fetchModel('org/model', options);
  await fetchModel('org/model:Q8_0', options);
  const pythonCache = await mkdtemp(join(tmpdir(), 'ortler-hub-python-'));
  try {
    const env = { HF_ENDPOINT: hub.url, HF_HUB_CACHE: pythonCache };
    await snapshotDownload(env, 'org/model', 'main', ...NEEDED);
    const tree = await modelTree(cacheDir);
    expect(tree).toEqual(await modelTree(pythonCache));
    expect(Object.keys(tree)).toHaveLength(13);
  } finally {
    await rm(pythonCache, { recursive: true });
  }
});

test.skipIf(TEST_PYTHON === undefined)('finds what we downloaded, offline', async () => {
  const { cacheDir, options } = await temporaryHub({ 'org/model': { files } });
  const { path } = await fetchModel('org/model', options);
  const env = { HF_HUB_OFFLINE: '1', HF_HUB_CACHE: cacheDir };
  expect(await snapshotDownload(env, 'org/model', 'main')).toMatchObject({ path });
});

test.skipIf(TEST_PYTHON === undefined)('downloads nothing again of what we downloaded', async () => {
  const { hub, cacheDir, options } = await temporaryHub({ 'org/model': { files } });
  const { path } = await fetchModel('org/model', options);
  hub.requests.length = 0;
  const env = { HF_ENDPOINT: hub.url, HF_HUB_CACHE: cacheDir };
  expect(await snapshotDownload(env, 'org/model', 'main', ...NEEDED.slice(0, 4))).toMatchObject({ path });
  expect(hub.requests.filter(({ server }) => server === 'cdn')).toEqual([]);
});

test.skipIf(TEST_PYTHON === undefined)('leaves a cache that we use, offline', async () => {
  const { hub, cacheDir, options } = await temporaryHub({ 'org/model': { files } });
  const { path } = await snapshotDownload(
    { HF_ENDPOINT: hub.url, HF_HUB_CACHE: cacheDir },
    'org/model',
    'main',
  );
  hub.requests.length = 0;
  const offline = { ...options, offline: true };
  expect(await fetchModel('org/model', offline)).toMatchObject({ path, kind: 'safetensors' });
  expect(await fetchModel('org/model:Q8_0', offline)).toMatchObject({
    path: join(path, 'x/m-Q8_0-00001-of-00002.gguf'),
  });
  expect(hub.requests).toEqual([]);
  await fetchModel('org/model', options);
  expect(hub.requests).toHaveLength(1);
});
