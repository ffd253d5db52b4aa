import { expect, test } from 'vitest';
import { createEngine, toCoreOptions } from './create-engine.ts';
import type { CoreOptions } from './protocol/core-options.ts';

test('every option of the token side that a caller gives gets there', () => {
  const given: Required<CoreOptions> = {
    modelDir: 'model',
    device: 'cpu',
    backend: 'node',
    threadCount: 3,
    spin: true,
    maxSequences: 5,
    contextLength: 77,
    prefillChunkLength: 9,
    maxQueuedSequences: 2,
    schedulingPolicy: 'priority',
    prefixCaching: false,
    wideGraphs: false,
    mixedChunkLength: 4,
    cacheSlots: 0,
    cacheBytes: 1_000,
    speculation: 'off',
    graphCapture: true,
    isDeviceOptional: true,
  };
  expect(toCoreOptions({ ...given, link: 'process' })).toEqual(given);
});

test('a folder that is none is named', async () => {
  await expect(createEngine({ modelDir: '/no/such/model' })).rejects.toMatchObject({
    code: 'model_invalid',
    message: expect.stringContaining('/no/such/model'),
  });
});
