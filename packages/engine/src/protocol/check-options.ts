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

function checkRanges(path: string, table: object, values: object): void {
  const given = values as Readonly<Record<string, unknown>>;
  for (const [name, entry] of Object.entries<OptionEntry<unknown>>(table as never)) {
    const value = given[name];
    if (value !== undefined && !entry.isInRange(value))
      throw wrongOption(`${path}${name}`, `must be ${entry.range}; got ${String(value)}`);
  }
}
