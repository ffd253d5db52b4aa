// The check of an engine's options, before a thread or process is started. What depends on the model's folder or device is
// checked where it is loaded. Caller: create-engine.ts.

import { EngineError } from '../errors.ts';
import type { EngineOptions } from './engine-options.ts';
import { HOST_OPTIONS, MODEL_OPTIONS, type OptionEntry, TUNING_OPTIONS } from './options.ts';

/** Throws: `model_invalid` naming the option. */
export function checkOptions(options: EngineOptions): void {
  const { link = HOST_OPTIONS.link.cpuDefault, prefixCaching, stepTimeoutMs, tuning = {} } = options;
  checkRanges('', { ...HOST_OPTIONS, ...MODEL_OPTIONS }, options);
  checkRanges('tuning.', TUNING_OPTIONS, tuning);
  if (stepTimeoutMs !== undefined && link !== 'process')
    throw wrongOption(
      'stepTimeoutMs',
      `needs link: 'process'; with '${link}' the model cannot be ended inside a step`,
    );
  const { cacheSlots = 0 } = tuning;
  if (cacheSlots > 0 && prefixCaching === false)
    throw wrongOption('tuning.cacheSlots', `must be 0 without prefixCaching; got ${cacheSlots}`);
}

export function wrongOption(name: string, problem: string): EngineError {
  return new EngineError('model_invalid', `The option ${name} ${problem}.`, { parameter: name });
}

function checkRanges(
  path: string,
  table: Readonly<Record<string, Pick<OptionEntry<never>, 'range' | 'isInRange'>>>,
  values: object,
): void {
  const given = new Map(Object.entries(values));
  for (const [name, { range, isInRange }] of Object.entries(table)) {
    const value = given.get(name);
    if (value !== undefined && !isInRange(value as never))
      throw wrongOption(`${path}${name}`, `must be ${range}; got ${String(value)}`);
  }
}
