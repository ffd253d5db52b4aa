// The names of the options of an engine, for callers whose compiler does not check them: a misspelt one would be dropped
// without a word. Values are checked by the token side. Called by create-engine.ts.

import type { EngineOptions } from './engine.ts';
import { EngineError } from './errors.ts';

const OPTIONS: Readonly<Record<keyof Required<EngineOptions>, true>> = {
  modelDir: true,
  link: true,
  device: true,
  backend: true,
  threadCount: true,
  spin: true,
  maxSequences: true,
  contextLength: true,
  prefillChunkLength: true,
  mixedChunkLength: true,
  maxQueuedSequences: true,
  schedulingPolicy: true,
  prefixCaching: true,
  wideGraphs: true,
  cacheSlots: true,
  cacheBytes: true,
  speculation: true,
  modelDefaults: true,
  graphCapture: true,
  isDeviceOptional: true,
  stepTimeoutMs: true,
  constraints: true,
  onWarmUp: true,
  onModelOutput: true,
  onModelProcess: true,
  reasoningParser: true,
};

const LINKS: readonly unknown[] = ['worker', 'process', 'in-process', undefined];

/** What a timer can count. */
const LONGEST_STEP_TIMEOUT_MS = 2_147_483_647;

/** Throws: `model_invalid` naming the option. */
export function checkEngineOptions(options: EngineOptions): void {
  if (typeof options !== 'object' || options === null || typeof options.modelDir !== 'string')
    throw new EngineError('model_invalid', 'The option modelDir must name a model folder.', {
      parameter: 'modelDir',
    });
  for (const name in options)
    if (!Object.hasOwn(OPTIONS, name))
      throw new EngineError(
        'model_invalid',
        `There is no option ${name}. Options: ${Object.keys(OPTIONS).join(', ')}.`,
        { parameter: name },
      );
  if (!LINKS.includes(options.link))
    throw new EngineError(
      'model_invalid',
      `The option link must be worker, process or in-process; got ${String(options.link)}.`,
      { parameter: 'link' },
    );
  checkStepTimeout(options);
}

function checkStepTimeout({ stepTimeoutMs, link = 'worker' }: EngineOptions): void {
  if (stepTimeoutMs === undefined) return;
  const isInRange =
    Number.isInteger(stepTimeoutMs) && stepTimeoutMs >= 0 && stepTimeoutMs <= LONGEST_STEP_TIMEOUT_MS;
  const problem =
    link !== 'process'
      ? `needs link: 'process'; with '${link}' the model cannot be ended inside a step`
      : !isInRange
        ? `must be a whole number from 0 to ${LONGEST_STEP_TIMEOUT_MS}; got ${stepTimeoutMs}`
        : undefined;
  if (problem === undefined) return;
  throw new EngineError('model_invalid', `The option stepTimeoutMs ${problem}.`, {
    parameter: 'stepTimeoutMs',
  });
}
