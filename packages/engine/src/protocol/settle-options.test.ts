import { availableParallelism } from 'node:os';
import { describe, expect, test } from 'vitest';
import { toCoreOptions } from './engine-options.ts';
import { type CoreOptions, MODEL_OPTIONS, TUNING_OPTIONS } from './options.ts';
import { settleOptions } from './settle-options.ts';

const ON_CPU = { device: 'cpu', contextLength: 512 } as const;

/** Every option of the token side, none at its default. */
const GIVEN = {
  modelDir: 'model',
  device: 'webgpu',
  isDeviceOptional: true,
  threadCount: 3,
  maxSequences: 5,
  contextLength: 77,
  prefixCaching: true,
  cacheEvents: true,
  schedulingPolicy: 'priority',
  tuning: {
    backend: 'node',
    prefillChunkLength: 9,
    mixedChunkLength: 4,
    spin: true,
    cacheSlots: 1,
    cacheBytes: 1_000,
    speculativeDecoding: 'off',
    maxQueuedSequences: 2,
  },
} as const satisfies CoreOptions;

describe('settleOptions', () => {
  test('takes every option that the caller gives', () => {
    expect(Object.keys(GIVEN).sort()).toEqual([...Object.keys(MODEL_OPTIONS), 'modelDir', 'tuning'].sort());
    expect(Object.keys(GIVEN.tuning)).toEqual(Object.keys(TUNING_OPTIONS));
    expect(settleOptions(GIVEN, { device: 'webgpu', contextLength: 512 })).toEqual(GIVEN);
  });

  test('fills the rest with the defaults of the CPU or the device', () => {
    const { tuning, ...plain } = settleOptions({ modelDir: 'model', tuning: { spin: undefined } }, ON_CPU);
    expect(plain).toEqual({
      modelDir: 'model',
      device: 'cpu',
      isDeviceOptional: false,
      threadCount: availableParallelism(),
      maxSequences: 8,
      contextLength: 512,
      prefixCaching: true,
      cacheEvents: false,
      schedulingPolicy: 'fcfs',
    });
    expect(tuning).toMatchObject({ mixedChunkLength: 32, spin: true, cacheSlots: 4 });
    const onDevice = settleOptions({ modelDir: 'model' }, { ...ON_CPU, device: 'cuda' });
    expect(onDevice).toMatchObject({ device: 'cuda', tuning: { mixedChunkLength: 128, spin: false } });
  });

  test('has no cache slots without prefix caching', () => {
    expect(settleOptions({ modelDir: 'model', prefixCaching: false }, ON_CPU).tuning.cacheSlots).toBe(0);
  });

  test('refuses a context that is longer than the model was built for', () => {
    expect(() => settleOptions({ modelDir: 'model', contextLength: 513 }, ON_CPU)).toThrow(
      expect.objectContaining({ code: 'model_invalid', parameter: 'contextLength' }),
    );
  });
});

test('only options of the token side cross the link', () => {
  const host = { link: 'process', modelDefaults: false, stepTimeoutMs: 5, onModelOutput: () => {} } as const;
  expect(toCoreOptions({ ...GIVEN, ...host })).toEqual(GIVEN);
});
