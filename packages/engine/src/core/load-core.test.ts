import { describe, expect, it } from 'vitest';
import type { CoreOptions } from '../protocol/core-options.ts';
import { loadCore } from './load-core.ts';

const OPTIONS: CoreOptions = {
  modelDir: 'no-such-folder',
  device: 'auto',
  backend: 'auto',
  threadCount: 0,
  maxSequences: 4,
  prefillChunkLength: 128,
  maxQueuedSequences: 16,
};

describe('loadCore', () => {
  it.each([
    [{ threadCount: -1 }, 'threadCount'],
    [{ maxSequences: 0 }, 'maxSequences'],
    [{ prefillChunkLength: 0.5 }, 'prefillChunkLength'],
    [{ maxQueuedSequences: -1 }, 'maxQueuedSequences'],
    [{ contextLength: 0 }, 'contextLength'],
    [{ mixedChunkLength: 0 }, 'mixedChunkLength'],
    [{ cacheSlots: -1 }, 'cacheSlots'],
    [{ cacheSlots: 1, prefixCaching: false }, 'cacheSlots'],
    [{ cacheBytes: 0 }, 'cacheBytes'],
  ] as const)('refuses %j by name before it reads anything', async (change, parameter) => {
    await expect(loadCore({ ...OPTIONS, ...change })).rejects.toMatchObject({
      code: 'model_invalid',
      parameter,
    });
  });

  it('names the file that is missing from a model folder', async () => {
    await expect(loadCore(OPTIONS)).rejects.toMatchObject({
      code: 'model_invalid',
      message: expect.stringContaining('no-such-folder'),
    });
  });
});
