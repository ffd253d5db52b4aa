// A model whose device is lost while its process lives: open requests fail with the reason, the process is replaced, and what
// is asked afterwards is answered as before.

import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Engine } from '@ortler/engine';
import { createProcessLink, startEngine, toCoreOptions } from '@ortler/engine/testing';
import { whyNoWebGpu } from '@ortler/onnxruntime/testing';
import { entryModule } from '@ortler/worker';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createTinyModelFolder, type TinyModelFolder } from './tiny-model-folder.ts';

const why = await whyNoWebGpu();
if (why !== undefined) console.warn(`Tests of lost devices are left out: ${why}`);

const PROMPT = [5, 9, 200, 31];

async function answer(engine: Engine, maxTokens: number, onFirst?: () => Promise<void>): Promise<number[]> {
  const tokenIds: number[] = [];
  const events = engine.generate({
    prompt: { tokenIds: PROMPT },
    sampling: { temperature: 1, seed: 4n },
    stop: { maxTokens, ignoreEos: true },
    cachePartition: String(maxTokens),
  });
  for await (const event of events) {
    if (!('tokenIds' in event)) continue;
    tokenIds.push(...event.tokenIds);
    if (tokenIds.length === 1) await onFirst?.();
  }
  return tokenIds;
}

describe.skipIf(why !== undefined)('a device that is lost', () => {
  let losing: string;
  let folder: TinyModelFolder;
  let engine: Engine;
  const pids: number[] = [];

  beforeAll(async () => {
    folder = await createTinyModelFolder('f16', {}, { variant: 'paged' });
    losing = join(folder.dir, 'lose-device');
    const options = { modelDir: folder.dir, device: 'webgpu', threadCount: 1, contextLength: 256 } as const;
    const link = createProcessLink(toCoreOptions({ ...options, maxSequences: 4 }), {
      entry: entryModule('./losing-process-entry', import.meta.url),
      policy: { firstDelayMs: 20, longestDelayMs: 100, healthyMs: 60_000 },
      onOutput: () => undefined,
      onSpawn: pid => pids.push(pid),
    });
    engine = await startEngine(folder.dir, link);
  });

  afterAll(async () => {
    await engine?.close();
    await folder?.remove();
  });

  it('fails what is open, and is gone with its process', async () => {
    const before = await answer(engine, 12);
    const lose = vi.fn(() => writeFile(losing, ''));
    const open = await Promise.allSettled([answer(engine, 200, lose), answer(engine, 190)]);
    expect(lose).toHaveBeenCalledOnce();
    for (const outcome of open)
      expect(outcome).toMatchObject({
        status: 'rejected',
        reason: { code: 'engine_failed', message: expect.stringMatching(/WebGPU device lost/) },
      });
    await vi.waitFor(() => expect(engine.health).toMatchObject({ state: 'ready', restartCount: 1 }), {
      timeout: 60_000,
      interval: 50,
    });
    await expect(access(losing)).rejects.toThrow();
    expect(new Set(pids).size).toBe(2);
    expect(await answer(engine, 12)).toEqual(before);
  });
});
