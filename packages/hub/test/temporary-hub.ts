// A local Hub and an empty cache for each test, small chunks and short pauses.

import { createHash } from 'node:crypto';
import { lstat, mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { FetchModelOptions } from '@ortler/hub';
import { type HubRepository, type LocalHub, startHub } from '@ortler/hub/testing';
import { afterEach } from 'vitest';
import { TUNING } from './small-tuning.ts';

export { TUNING };

export interface TemporaryHub {
  readonly hub: LocalHub;
  readonly cacheDir: string;
  readonly options: FetchModelOptions;
}

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** Ends with the test. */
export async function temporaryHub(
  repositories: Readonly<Record<string, HubRepository>>,
): Promise<TemporaryHub> {
  const hub = await startHub(repositories);
  const cacheDir = await mkdtemp(join(tmpdir(), 'ortler-hub-'));
  open.push(async () => {
    await hub.close();
    await rm(cacheDir, { recursive: true, force: true });
  });
  return { hub, cacheDir, options: { endpoint: hub.url, cacheDir, variables: {}, tuning: TUNING } };
}

/** Bytes that depend on the seed alone. */
export function seededBytes(length: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(length);
  let state = seed * 2_654_435_761;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[i] = state >>> 24;
  }
  return bytes;
}

/** A checkpoint in form only; its weights hold no tensors. */
export function checkpointFiles(weightBytes = 300_000, seed = 1): Record<string, Buffer | string> {
  return {
    'README.md': '# not needed',
    'config.json': '{"model_type":"llama"}',
    'tokenizer.json': '{}',
    'tokenizer_config.json': '{"chat_template":"x"}',
    'model.safetensors': seededBytes(weightBytes, seed),
    'pytorch_model.bin': 'not needed',
  };
}

/** Every path of a folder with the hash of its content, or the target of its link. */
export async function describeTree(root: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const tree: Record<string, string> = {};
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) continue;
    const isLink = (await lstat(path)).isSymbolicLink();
    tree[relative(root, path)] = isLink
      ? `-> ${await readlink(path)}`
      : createHash('sha256')
          .update(await readFile(path))
          .digest('hex');
  }
  return tree;
}

/** Violations of what must hold at every moment: what a snapshot shows is whole, and beside weights nothing lacks. */
export async function findHalfMade(
  { hub, cacheDir }: Pick<TemporaryHub, 'hub' | 'cacheDir'>,
  name: string,
  files: Readonly<Record<string, Buffer | string>>,
  needed: readonly string[],
): Promise<readonly string[]> {
  const snapshot = join(cacheDir, `models--${name.replace('/', '--')}`, 'snapshots', hub.commit(name));
  const faults: string[] = [];
  const shown: string[] = [];
  for (const [path, content] of Object.entries(files)) {
    const bytes = await readFile(join(snapshot, path)).catch(() => undefined);
    if (bytes === undefined) continue;
    shown.push(path);
    if (!bytes.equals(Buffer.from(content))) faults.push(`${path} has other content`);
  }
  if (shown.some(path => path.endsWith('.safetensors')))
    for (const path of needed)
      if (!path.endsWith('.safetensors') && !shown.includes(path))
        faults.push(`${path} lacks beside weights`);
  return faults;
}
