import { expect, it, test } from 'vitest';
import { checkEngineOptions } from './check-engine-options.ts';
import type { EngineOptions } from './engine.ts';

test.each([
  [undefined, 'modelDir', 'must name a model folder'],
  [{}, 'modelDir', 'must name a model folder'],
  [{ modelDir: 'model', maxSequence: 4 }, 'maxSequence', 'Options: modelDir, link, device'],
  [{ modelDir: 'model', link: 'thread' }, 'link', 'worker, process or in-process; got thread'],
  [{ modelDir: 'model', stepTimeoutMs: 1_000 }, 'stepTimeoutMs', "needs link: 'process'; with 'worker'"],
  [
    { modelDir: 'model', stepTimeoutMs: 0.5, link: 'process' },
    'stepTimeoutMs',
    'from 0 to 2147483647; got 0.5',
  ],
])('a caller without types is told what is wrong in %j', (options, parameter, message) => {
  expect(() => checkEngineOptions(options as unknown as EngineOptions)).toThrow(
    expect.objectContaining({ code: 'model_invalid', parameter, message: expect.stringContaining(message) }),
  );
});

it('takes options that are left undefined', () => {
  const options = { modelDir: 'model', link: undefined } as unknown as EngineOptions;
  expect(() => checkEngineOptions(options)).not.toThrow();
});
