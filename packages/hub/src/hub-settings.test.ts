import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readHubSettings } from './hub-settings.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-hub-settings-'));
  await writeFile(join(folder, 'token'), '  hf_file\n');
  await writeFile(join(folder, 'other'), 'hf_other');
});
afterAll(() => rm(folder, { recursive: true }));

const cacheOf = async (variables: Record<string, string>) => (await readHubSettings({ variables })).cacheDir;
const tokenOf = async (variables: Record<string, string>) => (await readHubSettings({ variables })).token;

describe('settings of the Hub', () => {
  test('place the cache as huggingface_hub does', async () => {
    expect(await cacheOf({})).toBe(join(homedir(), '.cache/huggingface/hub'));
    expect(await cacheOf({ XDG_CACHE_HOME: '/x' })).toBe('/x/huggingface/hub');
    expect(await cacheOf({ XDG_CACHE_HOME: '/x', HF_HOME: '/h' })).toBe('/h/hub');
    expect(await cacheOf({ HF_HOME: '~/h' })).toBe(join(homedir(), 'h/hub'));
    expect(await cacheOf({ HF_HOME: '/h', HUGGINGFACE_HUB_CACHE: '/old' })).toBe('/old');
    expect(await cacheOf({ HUGGINGFACE_HUB_CACHE: '/old', HF_HUB_CACHE: '/c' })).toBe('/c');
    expect(await cacheOf({ HF_HOME: '/h', HF_HUB_CACHE: '' })).toBe('/h/hub');
    expect((await readHubSettings({ cacheDir: '/d', variables: { HF_HUB_CACHE: '/c' } })).cacheDir).toBe(
      '/d',
    );
  });

  test('take the token from the variable, then from its file, unless implicit tokens are off', async () => {
    expect(await tokenOf({ HF_HOME: folder })).toBe('hf_file');
    expect(await tokenOf({ HF_HOME: folder, HF_TOKEN: 'hf_variable ' })).toBe('hf_variable');
    expect(await tokenOf({ HF_HOME: folder, HF_TOKEN_PATH: join(folder, 'other') })).toBe('hf_other');
    expect(await tokenOf({ HF_HOME: folder, HF_HUB_DISABLE_IMPLICIT_TOKEN: '1' })).toBeUndefined();
    expect(await tokenOf({ HF_HOME: join(folder, 'nowhere') })).toBeUndefined();
  });

  test('never repeat a token that cannot be sent', async () => {
    const error = await tokenOf({ HF_TOKEN: 'secret\nx' }).catch((fault: Error) => fault);
    expect(error).toMatchObject({ code: 'access_denied' });
    expect(String((error as Error).stack)).not.toContain('secret');
  });

  test('are offline by either variable', async () => {
    const isOffline = async (variables: Record<string, string>) =>
      (await readHubSettings({ variables })).isOffline;
    expect(await isOffline({})).toBe(false);
    expect(await isOffline({ HF_HUB_OFFLINE: '0' })).toBe(false);
    for (const word of ['1', 'true', 'YES', 'on'])
      expect(await isOffline({ HF_HUB_OFFLINE: word })).toBe(true);
    expect(await isOffline({ TRANSFORMERS_OFFLINE: '1' })).toBe(true);
    expect((await readHubSettings({ offline: false, variables: { HF_HUB_OFFLINE: '1' } })).isOffline).toBe(
      false,
    );
  });

  test('refuse an address that is not a URL', async () => {
    expect((await readHubSettings({ endpoint: 'https://hub.example/', variables: {} })).endpoint).toBe(
      'https://hub.example',
    );
    await expect(readHubSettings({ variables: { HF_ENDPOINT: 'hub.example' } })).rejects.toThrow(
      'must be a URL',
    );
  });

  test('refuse an address with a password, and do not repeat it', async () => {
    const refused = readHubSettings({ variables: { HF_ENDPOINT: 'https://user:secret@hub.example' } });
    const error = await refused.catch((fault: Error) => fault);
    expect(error).toMatchObject({ code: 'reference_invalid', message: expect.stringContaining('HF_TOKEN') });
    expect(String((error as Error).stack)).not.toContain('secret');
  });
});
