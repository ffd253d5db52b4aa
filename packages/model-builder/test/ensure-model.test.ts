// The build cache: hits, rebuilds when the content differs, and concurrent processes.

import { execFile } from 'node:child_process';
import {
  cp,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MANIFEST_FILE } from '@ortler/engine/graph-contract';
import { beforeEach, describe, expect, it } from 'vitest';
import type { BuildProgress } from '../src/build-options.ts';
import { ensureModel, findKnownModel } from '../src/ensure-model.ts';
import { createTinyCheckpoint } from '../src/testing/tiny-model.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();
let testCount = 0;
let source: string;
let cacheDir: string;

beforeEach(async () => {
  const own = join(folder, String(testCount++));
  source = join(own, 'source');
  cacheDir = join(own, 'cache');
  await createTinyCheckpoint(source);
});

/** The folder, and the stages that were gone through to get it. */
async function ensure(sourceDir = source) {
  const stages = new Set<BuildProgress['stage']>();
  const onProgress = ({ stage }: BuildProgress) => stages.add(stage);
  const path = await ensureModel({ sourceDir, cacheDir, precision: 'f32', onProgress });
  return { path, stages: [...stages] };
}

async function builtFolders(): Promise<string[]> {
  return (await readdir(cacheDir)).filter(name => name !== 'stamps');
}

describe('the same checkpoint', () => {
  it('is built once and then neither built nor read again', async () => {
    const first = await ensure();
    const second = await ensure();
    expect(first.stages).toEqual(['hash', 'weights', 'finish']);
    expect(second).toEqual({ path: first.path, stages: [] });
  });

  it('is built once for each variant and precision', async () => {
    const kinds = [
      { precision: 'q4' },
      { precision: 'q4', variant: 'paged' },
      { precision: 'f16', variant: 'paged' },
    ] as const;
    const ensureAll = () =>
      Promise.all(kinds.map(kind => ensureModel({ sourceDir: source, cacheDir, ...kind })));
    const paths = await ensureAll();
    expect(new Set(paths).size).toBe(kinds.length);
    expect(paths.map(path => path.slice(cacheDir.length + 1, -32))).toEqual([
      'q4-',
      'paged-q4-',
      'paged-f16-',
    ]);
    expect(await ensureAll()).toEqual(paths);
  });

  it('is found under another path and with other file times', async () => {
    const { path } = await ensure();
    const copy = `${source}-copy`;
    await cp(source, copy, { recursive: true });
    expect(await ensure(copy)).toEqual({ path, stages: ['hash'] });
    await utimes(join(source, 'config.json'), new Date(), new Date());
    expect(await ensure()).toEqual({ path, stages: ['hash'] });
  });

  it('is hashed again when the stamp file cannot be read', async () => {
    const { path } = await ensure();
    const [stamps] = await readdir(join(cacheDir, 'stamps'));
    await writeFile(join(cacheDir, 'stamps', stamps!), '{"config.json":');
    expect(await ensure()).toEqual({ path, stages: ['hash'] });
  });

  it.each(['model.onnx', 'model.onnx.data', 'tokenizer.json', MANIFEST_FILE])(
    'is built again when its folder lost %s',
    async name => {
      const { path } = await ensure();
      await rm(join(path, name));
      expect(await ensure()).toEqual({ path, stages: ['weights', 'finish'] });
      expect((await stat(join(path, name))).isFile()).toBe(true);
    },
  );
});

describe('a build that was damaged later is built again', () => {
  it.each(['model.onnx', 'model.onnx.data', 'tokenizer.json'])('when %s was truncated', async name => {
    const { path } = await ensure();
    const whole = await readFile(join(path, name));
    await truncate(join(path, name), whole.length - 1);
    expect(await ensure()).toEqual({ path, stages: ['hash', 'weights', 'finish'] });
    expect((await readFile(join(path, name))).equals(whole)).toBe(true);
  });

  it('when one bit of its weights changed', async () => {
    const { path } = await ensure();
    const file = join(path, 'model.onnx.data');
    const whole = await readFile(file);
    const changed = Buffer.from(whole);
    changed[100]! ^= 1;
    await writeFile(file, changed);
    expect((await ensure()).stages).toContain('weights');
    expect((await readFile(file)).equals(whole)).toBe(true);
  });
});

describe('another build is made', () => {
  it('for another precision', async () => {
    const { path } = await ensure();
    expect(await ensureModel({ sourceDir: source, cacheDir, precision: 'q8' })).not.toBe(path);
  });

  it('when weights change without a change of size or modification time', async () => {
    const { path } = await ensure();
    const weights = join(source, 'model.safetensors');
    const { atime, mtime } = await stat(weights);
    const content = await readFile(weights);
    // The lowest byte of the last number: as small a change as there is.
    content[content.length - 4]! ^= 1;
    await writeFile(weights, content);
    await utimes(weights, atime, mtime);
    expect((await ensure()).path).not.toBe(path);
  });

  it('when a companion file changes', async () => {
    const { path } = await ensure();
    await writeFile(join(source, 'chat_template.jinja'), 'hello');
    const { path: other } = await ensure();
    expect(other).not.toBe(path);
    expect(await readFile(join(other, 'chat_template.jinja'), 'utf8')).toBe('hello');
  });
});

describe('a folder that was built before', () => {
  it('is passed through, and its files are read once', async () => {
    const { path } = await ensure();
    expect(await ensure(path)).toEqual({ path, stages: ['hash'] });
    expect(await ensure(path)).toEqual({ path, stages: [] });
  });

  it('is refused when its weights were truncated', async () => {
    const { path } = await ensure();
    const file = join(path, 'model.onnx.data');
    await truncate(file, 4_096);
    await expect(ensure(path)).rejects.toMatchObject({ code: 'weights_corrupt', file });
  });

  it('is refused together with an adapter', async () => {
    const { path } = await ensure();
    const options = { sourceDir: path, adapterDir: source, cacheDir, precision: 'f32' } as const;
    await expect(ensureModel(options)).rejects.toMatchObject({ code: 'unsupported', file: path });
  });

  it('is refused when another version of the format made it', async () => {
    const { path } = await ensure();
    const file = join(path, MANIFEST_FILE);
    const manifest = JSON.parse(await readFile(file, 'utf8'));
    await writeFile(file, JSON.stringify({ ...manifest, formatVersion: 99 }));
    await expect(ensure(path)).rejects.toMatchObject({ code: 'unsupported', file, key: 'formatVersion' });
  });
});

describe('several builds at once', () => {
  it('in one process end with one whole folder', async () => {
    const results = await Promise.all([ensure(), ensure(), ensure()]);
    expect(new Set(results.map(({ path }) => path)).size).toBe(1);
    expect(await builtFolders()).toHaveLength(1);
    expect(await ensure()).toMatchObject({ stages: [] });
  });

  it('in several processes end with one whole folder', async () => {
    const script = fileURLToPath(new URL('./build-in-process.ts', import.meta.url));
    const args = ['--conditions=@ortler/source', script, source, '--cache', cacheDir];
    const outputs = await Promise.all([1, 2].map(() => promisify(execFile)(process.execPath, args)));
    const { path } = await ensure();
    for (const { stdout } of outputs) expect(JSON.parse(stdout)).toEqual({ built: path });
    expect(await builtFolders()).toHaveLength(1);
  });
});

describe('what a killed build left', () => {
  const host = hostname().replace(/[^\w.]/g, '_');
  // Process ids stay below this on every system that Node runs on.
  const deadPid = 99_999_999;

  async function leave(name: string, ageMs = 0): Promise<string> {
    const left = join(cacheDir, name);
    await mkdir(left, { recursive: true });
    await writeFile(join(left, 'model.onnx.data'), 'half');
    const time = new Date(Date.now() - ageMs);
    for (const path of [join(left, 'model.onnx.data'), left]) await utimes(path, time, time);
    return name;
  }

  it('is removed when its process is gone', async () => {
    const name = await leave(`f32-abc.building-${host}-${deadPid}-0123abcd`);
    await ensure();
    expect(await builtFolders()).not.toContain(name);
  });

  it('stays while its process runs', async () => {
    const name = await leave(`f32-abc.building-${host}-${process.pid}-0123abcd`);
    await ensure();
    expect(await builtFolders()).toContain(name);
  });

  it('stays when another machine may still be at it, and is removed after an hour without a write', async () => {
    const fresh = await leave(`f32-abc.building-elsewhere-${deadPid}-0123abcd`);
    const old = await leave(`f32-abc.building-elsewhere-${deadPid}-4567abcd`, 61 * 60 * 1000);
    await ensure();
    const left = await builtFolders();
    expect(left).toContain(fresh);
    expect(left).not.toContain(old);
  });
});

describe('a model that is known', () => {
  const find = (sourceDir = source) => findKnownModel({ sourceDir, cacheDir, precision: 'f32' });

  it('is found from its stamps, and only as long as no file changed', async () => {
    expect(await find()).toBeUndefined();
    const { path } = await ensure();
    expect(await find()).toBe(path);
    const moment = new Date();
    await utimes(join(source, 'model.safetensors'), moment, moment);
    expect(await find()).toBeUndefined();
    expect((await ensure()).path).toBe(path);
    expect(await find()).toBe(path);
    await utimes(join(path, 'model.onnx.data'), moment, moment);
    expect(await find()).toBeUndefined();
  });

  it('is a built folder whose files were read once', async () => {
    const { path } = await ensure();
    const copy = `${path}-copy`;
    await cp(path, copy, { recursive: true });
    expect(await find(copy)).toBeUndefined();
    await ensure(copy);
    expect(await find(copy)).toBe(copy);
  });
});

it('names a checkpoint folder that does not exist', async () => {
  await rename(source, `${source}-moved`);
  await expect(ensure()).rejects.toMatchObject({ code: 'source_invalid', file: source });
});
