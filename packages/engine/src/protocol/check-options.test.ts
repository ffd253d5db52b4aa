import { expect, test } from 'vitest';
import { checkOptions } from './check-options.ts';
import type { EngineOptions } from './engine-options.ts';

const REFUSALS: readonly (readonly [Partial<EngineOptions>, string, string])[] = [
  [{ threadCount: -1 }, 'threadCount', 'at least 0; got -1'],
  [{ maxSequences: 0 }, 'maxSequences', 'at least 1; got 0'],
  [{ contextLength: 0 }, 'contextLength', 'at least 1'],
  [{ tuning: { prefillChunkLength: 0.5 } }, 'tuning.prefillChunkLength', 'a whole number'],
  [{ tuning: { maxQueuedSequences: -1 } }, 'tuning.maxQueuedSequences', 'at least 0'],
  [{ tuning: { mixedChunkLength: 0 } }, 'tuning.mixedChunkLength', 'at least 1'],
  [{ tuning: { cacheSlots: -1 } }, 'tuning.cacheSlots', 'at least 0'],
  [{ tuning: { cacheSlots: 1 }, prefixCaching: false }, 'tuning.cacheSlots', 'without prefixCaching; got 1'],
  [{ tuning: { cacheBytes: 0 } }, 'tuning.cacheBytes', 'at least 1'],
  [{ link: 'thread' as 'worker' }, 'link', 'worker, process or in-process; got "thread"'],
  [{ stepTimeoutMs: 1_000 }, 'stepTimeoutMs', "needs link: 'process'; with 'worker'"],
  [{ stepTimeoutMs: 0.5, link: 'process' }, 'stepTimeoutMs', 'from 0 to 2147483647; got 0.5'],
  [{ devise: 'cpu' } as object, 'devise', 'is unknown; there are'],
  [{ tuning: { spinning: true } as object }, 'tuning.spinning', 'is unknown; there are backend,'],
  [{ tuning: null } as object, 'tuning', 'must be an object; got null'],
  [{ tuning: 'fast' } as object, 'tuning', 'must be an object; got "fast"'],
  [{ chatTemplate: 5 } as object, 'chatTemplate', 'must be text; got 5'],
  [{ onFailed: 'log' } as object, 'onFailed', 'must be a function; got "log"'],
  [{ constraints: 5 } as object, 'constraints', 'must be an object; got 5'],
  [
    { constraints: { timeLimit: 5 } as object },
    'constraints.timeLimit',
    'there are limits, timeLimitMs, style',
  ],
  [{ constraints: { timeLimitMs: 0 } }, 'constraints.timeLimitMs', 'a number above 0; got 0'],
  [{ constraints: { style: 'any' } as object }, 'constraints.style', 'must be an object; got "any"'],
  [{ modelDir: undefined } as object, 'modelDir', 'the path of a model folder; got undefined'],
];

test.each(REFUSALS)('%j is refused by name, with what is allowed', (options, parameter, message) => {
  expect(() => checkOptions({ modelDir: 'model', ...options })).toThrow(
    expect.objectContaining({ code: 'model_invalid', parameter, message: expect.stringContaining(message) }),
  );
});

test('options that are left undefined are taken', () => {
  const tuning = { cacheSlots: undefined };
  expect(() =>
    checkOptions({ modelDir: 'model', link: undefined, tuning, constraints: { timeLimitMs: Infinity } }),
  ).not.toThrow();
});

test.each([undefined, null, 'model', 5, []])('%j in place of the options is refused', options => {
  expect(() => checkOptions(options as never)).toThrow(
    expect.objectContaining({
      code: 'model_invalid',
      message: expect.stringContaining('The options must be an object; got '),
    }),
  );
});
