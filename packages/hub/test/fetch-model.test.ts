// Downloads into the cache, and what the cache serves without them.

import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type DownloadPlan, type DownloadProgress, fetchModel, resolveModel } from '@ortler/hub';
import { TEST_TOKEN } from '@ortler/hub/testing';
import { describe, expect, test, vi } from 'vitest';
import { checkpointFiles, describeTree, seededBytes, temporaryHub } from './temporary-hub.ts';

/** What is waited for takes milliseconds; the limit only ends a test that waits in vain. */
const PATIENCE = { timeout: 20_000 };
const NEEDED = ['config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json'];

describe('a download', () => {
  test('brings what the build needs, into the layout of huggingface_hub', async () => {
    const files = checkpointFiles();
    const { hub, cacheDir, options } = await temporaryHub({ 'org/model': { files } });
    const { path, kind, commit } = await fetchModel('org/model', options);
    const root = join(cacheDir, 'models--org--model');
    expect({ path, kind, commit }).toEqual({
      path: join(root, 'snapshots', hub.commit('org/model')),
      kind: 'safetensors',
      commit: hub.commit('org/model'),
    });
    const tree = await describeTree(root);
    const blobs = NEEDED.map(name => hub.etag('org/model', name));
    expect(Object.keys(tree).sort()).toEqual(
      [
        'refs/main',
        ...blobs.map(etag => join('blobs', etag)),
        ...NEEDED.map(name => join('snapshots', commit, name)),
      ].sort(),
    );
    for (const name of NEEDED) {
      expect(tree[join('snapshots', commit, name)]).toBe(`-> ../../blobs/${hub.etag('org/model', name)}`);
      expect(await readFile(join(path, name))).toEqual(Buffer.from(files[name]!));
    }
    expect(await readFile(join(root, 'refs/main'), 'utf8')).toBe(commit);
  });

  test('fetches large files in ranges over several connections, and small ones whole', async () => {
    const { hub, options } = await temporaryHub({ 'org/model': { files: checkpointFiles(300_000) } });
    await fetchModel('org/model', options);
    const ranges = hub.requests.filter(({ server }) => server === 'cdn').map(({ range }) => range);
    expect(ranges.toSorted()).toEqual(
      ['0-65535', '131072-196607', '196608-262143', '262144-299999', '65536-131071'].map(at => `bytes=${at}`),
    );
    expect(
      hub.requests.filter(({ url }) => url.includes('config.json')).map(({ range }) => range),
    ).not.toContain(expect.anything());
  });

  test('reports its plan before the weights, and progress to the last byte', async () => {
    const files = checkpointFiles();
    const { options } = await temporaryHub({ 'org/model': { files } });
    const plans: DownloadPlan[] = [];
    const reports: DownloadProgress[] = [];
    await fetchModel('org/model', {
      ...options,
      onPlan: plan => plans.push(plan),
      onProgress: progress => reports.push(progress),
    });
    const totalBytes = NEEDED.reduce((sum, name) => sum + files[name]!.length, 0);
    expect(plans).toEqual([expect.objectContaining({ totalBytes, missingBytes: totalBytes })]);
    expect(plans[0]!.freeDiskBytes).toBeGreaterThan(0);
    expect(reports[0]).toEqual({ stage: 'download', doneBytes: 0, totalBytes });
    expect(reports.at(-1)).toMatchObject({ stage: 'check', doneBytes: totalBytes, totalBytes });
    const done = reports.map(({ doneBytes }) => doneBytes);
    expect(done).toEqual(done.toSorted((a, b) => a - b));
  });

  test('of sharded weights takes the shards of the index, in folders of any depth and files of no bytes', async () => {
    const index = JSON.stringify({ weight_map: { a: 'model-1.safetensors', b: 'model-2.safetensors' } });
    const { 'model.safetensors': _, ...others } = checkpointFiles();
    const files = {
      ...others,
      'model.safetensors.index.json': index,
      'model-1.safetensors': seededBytes(70_000, 2),
      'model-2.safetensors': seededBytes(16 * 1024, 3),
      'model-3.safetensors': 'not in the index',
      'merges.txt': '',
    };
    const { options } = await temporaryHub({ 'org/model': { files } });
    const { path } = await fetchModel('org/model', options);
    expect(Object.keys(await describeTree(path)).sort()).toEqual(
      Object.keys(files)
        .filter(name => !/README|\.bin|model-3/.test(name))
        .sort(),
    );
    expect((await stat(join(path, 'merges.txt'))).size).toBe(0);
  });

  test('of a GGUF repository brings one quantisation, and gives its path', async () => {
    const files = {
      'm-Q2_K.gguf': seededBytes(1_000, 1),
      'm-Q4_K_M.gguf': seededBytes(20_000, 2),
      'Q8_0/m-Q8_0-00001-of-00002.gguf': seededBytes(20_000, 3),
      'Q8_0/m-Q8_0-00002-of-00002.gguf': seededBytes(20_000, 4),
      'mmproj-Q4_K_M.gguf': 'not needed',
    };
    const { cacheDir, hub, options } = await temporaryHub({ 'org/model-GGUF': { files } });
    const snapshot = join(cacheDir, 'models--org--model-GGUF/snapshots', hub.commit('org/model-GGUF'));
    expect(await resolveModel('org/model-GGUF', options)).toBe(join(snapshot, 'm-Q4_K_M.gguf'));
    expect(Object.keys(await describeTree(snapshot))).toEqual(['m-Q4_K_M.gguf']);
    const sharded = join(snapshot, 'Q8_0/m-Q8_0-00001-of-00002.gguf');
    expect(await resolveModel('org/model-GGUF:q8_0', options)).toBe(sharded);
    expect(
      (await readFile(sharded.replace('00001-of', '00002-of'))).equals(
        files['Q8_0/m-Q8_0-00002-of-00002.gguf'],
      ),
    ).toBe(true);
    await expect(resolveModel('org/model-GGUF:Q6_K', options)).rejects.toThrow(
      'org/model-GGUF has no quantisation Q6_K. It has Q8_0, Q2_K, Q4_K_M.',
    );
    // The file is in the cache, and the Hub is not asked for its bytes.
    hub.requests.length = 0;
    expect(await resolveModel('org/model-GGUF:Q8_0', { ...options, offline: true })).toBe(sharded);
    expect(hub.requests).toEqual([]);
  });

  test('sends the token to the Hub only, never to the host of the files', async () => {
    const { hub, options } = await temporaryHub({
      'org/model': { files: checkpointFiles(), access: 'private' },
    });
    await fetchModel('org/model', { ...options, token: TEST_TOKEN });
    const tokenOf = (server: string) => hub.requests.filter(request => request.server === server);
    expect(tokenOf('hub').every(({ hasToken }) => hasToken)).toBe(true);
    expect(tokenOf('cdn').length).toBeGreaterThan(0);
    expect(tokenOf('cdn').some(({ hasToken }) => hasToken)).toBe(false);
  });
});

describe('the cache', () => {
  test('serves a model again with one question for its commit', async () => {
    const { hub, options } = await temporaryHub({ 'org/model': { files: checkpointFiles() } });
    const first = await fetchModel('org/model', options);
    hub.requests.length = 0;
    expect(await fetchModel('org/model', options)).toEqual(first);
    expect(hub.requests.map(({ url }) => url)).toEqual(['/api/models/org/model/revision/main?blobs=true']);
  });

  test('keeps a commit that no branch has any more, and writes no reference for it', async () => {
    const { hub, cacheDir, options } = await temporaryHub({ 'org/model': { files: checkpointFiles() } });
    const commit = hub.commit('org/model');
    const { path } = await fetchModel(`org/model@${commit}`, options);
    hub.put('org/model', { files: checkpointFiles(1_000, 7) });
    expect(await fetchModel(`org/model@${commit}`, options)).toMatchObject({ commit, path });
    expect(await fetchModel(`org/model@${commit}`, { ...options, offline: true })).toMatchObject({ path });
    await expect(readdir(join(cacheDir, 'models--org--model/refs'))).rejects.toThrow();
  });

  test('gets what another program left out', async () => {
    const files = {
      ...checkpointFiles(),
      'chat_template.jinja': 'x',
      'm-Q4_K_M.gguf': 'y',
      'm-Q8_0.gguf': 'z',
    };
    const { hub, options } = await temporaryHub({ 'org/model': { files } });
    const { path } = await fetchModel('org/model:Q8_0', options);
    const name = `org/model@${hub.commit('org/model')}`;
    expect(await fetchModel(name, options)).toMatchObject({ kind: 'safetensors' });
    await rm(join(path, '../chat_template.jinja'));
    await fetchModel(name, options);
    expect(await readFile(join(path, '../chat_template.jinja'), 'utf8')).toBe('x');
  });

  test('follows a branch to its new commit, and keeps blobs that did not change', async () => {
    const files = checkpointFiles();
    const { hub, cacheDir, options } = await temporaryHub({ 'org/model': { files } });
    const first = await fetchModel('org/model', options);
    hub.put('org/model', { files: { ...files, 'config.json': '{"model_type":"qwen3"}' } });
    hub.requests.length = 0;
    const second = await fetchModel('org/model', options);
    expect(second.commit).not.toBe(first.commit);
    expect(hub.requests.filter(({ server }) => server === 'cdn')).toEqual([]);
    expect(await readFile(join(second.path, 'config.json'), 'utf8')).toContain('qwen3');
    expect(await readFile(join(first.path, 'config.json'), 'utf8')).toContain('llama');
    expect(await readFile(join(cacheDir, 'models--org--model/refs/main'), 'utf8')).toBe(second.commit);
  });

  test('keeps revisions apart', async () => {
    const revisions = { 'refs/pr/3': checkpointFiles(5_000, 9) };
    const { hub, cacheDir, options } = await temporaryHub({
      'org/model': { files: checkpointFiles(), revisions },
    });
    const { commit } = await fetchModel('org/model@refs/pr/3', options);
    expect(commit).toBe(hub.commit('org/model', 'refs/pr/3'));
    expect(await readFile(join(cacheDir, 'models--org--model/refs/refs/pr/3'), 'utf8')).toBe(commit);
  });

  test('is used offline, and when the Hub cannot be reached', async () => {
    const { hub, options } = await temporaryHub({ 'org/model': { files: checkpointFiles() } });
    const notices: string[] = [];
    const offline = { ...options, offline: true, onNotice: (text: string) => notices.push(text) };
    await expect(fetchModel('org/model', offline)).rejects.toMatchObject({ code: 'not_cached' });
    const first = await fetchModel('org/model', options);
    hub.requests.length = 0;
    expect(await fetchModel('org/model', offline)).toEqual(first);
    expect(hub.requests).toEqual([]);
    hub.fault = () => ({ kind: 'status', status: 503 });
    expect(await fetchModel('org/model', { ...offline, offline: false })).toEqual(first);
    await hub.close();
    expect(await fetchModel('org/model', { ...offline, offline: false })).toEqual(first);
    expect(notices).toHaveLength(2);
    expect(notices[1]).toMatch(
      /^The connection to 127\.0\.0\.1:\d+ failed \(ECONNREFUSED\)\. Using the copy/,
    );
  });

  test('is not complete without a shard, a tokenizer or a blob', async () => {
    const { cacheDir, options } = await temporaryHub({ 'org/model': { files: checkpointFiles() } });
    const offline = { ...options, offline: true };
    const { path } = await fetchModel('org/model', options);
    for (const name of ['tokenizer.json', 'tokenizer_config.json']) await rm(join(path, name));
    await expect(fetchModel('org/model', offline)).rejects.toMatchObject({ code: 'not_cached' });
    await fetchModel('org/model', options);
    await fetchModel('org/model', offline);
    await rm(join(cacheDir, 'models--org--model/blobs'), { recursive: true });
    await expect(fetchModel('org/model', offline)).rejects.toMatchObject({ code: 'not_cached' });
    await fetchModel('org/model', options);
    await fetchModel('org/model', offline);
  });

  test('without symbolic links has hard links, which need no second download', async () => {
    const { hub, options } = await temporaryHub({ 'org/model': { files: checkpointFiles() } });
    const plain = { ...options, variables: { HF_HUB_DISABLE_SYMLINKS: '1' } };
    const { path } = await fetchModel('org/model', plain);
    const tree = await describeTree(path);
    expect(Object.values(tree).some(entry => entry.startsWith('->'))).toBe(false);
    hub.requests.length = 0;
    await fetchModel('org/model', plain);
    expect(hub.requests).toHaveLength(1);
  });

  test.skipIf(!existsSync('/dev/shm'))('without any links has copies', async () => {
    const { hub, cacheDir, options } = await temporaryHub({ 'org/model': { files: checkpointFiles() } });
    // Hard links do not cross disks.
    const elsewhere = await mkdtemp('/dev/shm/ortler-hub-');
    try {
      await mkdir(join(cacheDir, 'models--org--model'));
      await symlink(elsewhere, join(cacheDir, 'models--org--model/snapshots'));
      const plain = { ...options, variables: { HF_HUB_DISABLE_SYMLINKS: '1' } };
      const { path } = await fetchModel('org/model', plain);
      expect(Object.keys(await describeTree(elsewhere)).sort()).toEqual(
        NEEDED.map(name => join(hub.commit('org/model'), name)),
      );
      expect((await stat(join(path, 'model.safetensors'))).nlink).toBe(1);
      expect(await fetchModel('org/model', { ...plain, offline: true })).toMatchObject({ path });
    } finally {
      await rm(elsewhere, { recursive: true });
    }
  });

  test('replaces dangling links and files of another size', async () => {
    const { options } = await temporaryHub({ 'org/model': { files: checkpointFiles() } });
    const { path } = await fetchModel('org/model', options);
    await rm(join(path, 'config.json'));
    await symlink('../../blobs/nothing', join(path, 'config.json'));
    await rm(join(path, 'tokenizer.json'));
    await writeFile(join(path, 'tokenizer.json'), 'another size');
    await fetchModel('org/model', options);
    expect(await readFile(join(path, 'config.json'), 'utf8')).toContain('llama');
    expect(await readFile(join(path, 'tokenizer.json'), 'utf8')).toBe('{}');
  });

  test('that cannot be written is reported by its folder', async () => {
    const { cacheDir, options } = await temporaryHub({ 'org/model': { files: checkpointFiles() } });
    await writeFile(join(cacheDir, '.locks'), 'a file in the way');
    await expect(fetchModel('org/model', options)).rejects.toMatchObject({
      code: 'write_failed',
      message: `The cache ${cacheDir} cannot be written: a file is in the place of one of its folders. Make room or change the permission there, or choose another folder with HF_HUB_CACHE.`,
    });
  });
});

test('a download that waits for another one ends with its signal', async () => {
  const { hub, options } = await temporaryHub({ 'org/model': { files: checkpointFiles() } });
  hub.fault = ({ server }) =>
    server === 'cdn' ? { kind: 'slow', pieceBytes: 4_000, pauseMs: 10 } : undefined;
  const controller = new AbortController();
  const first = fetchModel('org/model', options);
  await vi.waitFor(() => expect(hub.requests.some(({ server }) => server === 'cdn')).toBe(true), PATIENCE);
  const waiting = fetchModel('org/model', {
    ...options,
    signal: controller.signal,
    onNotice: () => controller.abort(new Error('no time')),
  });
  await expect(waiting).rejects.toThrow('no time');
  expect(await first).toMatchObject({ kind: 'safetensors' });
});

describe('a path', () => {
  test('wins over a name when it exists, and is not fetched', async () => {
    const { hub, cacheDir, options } = await temporaryHub({ 'org/model': { files: checkpointFiles() } });
    await mkdir(join(cacheDir, 'here'));
    expect(await resolveModel(join(cacheDir, 'here'), options)).toBe(join(cacheDir, 'here'));
    expect(await resolveModel('./not/there', options)).toMatch(/\/not\/there$/);
    expect(hub.requests).toEqual([]);
    await expect(resolveModel('org/other', options)).rejects.toThrow(
      /Nor is there a folder org\/other here\.$/,
    );
  });
});
