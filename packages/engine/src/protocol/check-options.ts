// The check of an engine's options, before a thread or process is started. What depends on the model's folder or device is
// checked where it is loaded. Callers: create-engine.ts, and hosts that download or build a model first.

import { EngineError } from '../errors.ts';
import { describeValue } from '../request/describe-value.ts';
import type { ConstraintOptions, EngineOptions } from './engine-options.ts';
import { HOST_OPTIONS, MODEL_OPTIONS, type OptionEntry, TUNING_OPTIONS } from './options.ts';

type Check = Pick<OptionEntry<never>, 'range' | 'isInRange'>;

const TEXT: Check = { range: 'text', isInRange: value => typeof value === 'string' };
const FUNCTION: Check = { range: 'a function', isInRange: value => typeof value === 'function' };
const OBJECT: Check = { range: 'an object', isInRange: isObject };

/** Options without a default. */
const OTHER_OPTIONS = {
  modelDir: TEXT,
  tuning: OBJECT,
  constraints: OBJECT,
  chatTemplate: TEXT,
  onWarmUp: FUNCTION,
  onFailed: FUNCTION,
  onCacheEvents: FUNCTION,
  onModelOutput: FUNCTION,
  onModelProcess: FUNCTION,
} as const satisfies Readonly<
  Record<Exclude<keyof EngineOptions, keyof typeof HOST_OPTIONS | keyof typeof MODEL_OPTIONS>, Check>
>;

const CONSTRAINT_OPTIONS = {
  limits: OBJECT,
  timeLimitMs: { range: 'a number above 0', isInRange: value => typeof value === 'number' && value > 0 },
  style: OBJECT,
} as const satisfies Readonly<Record<keyof ConstraintOptions, Check>>;

/** `hostOptions` are names that a host takes beside those of the engine. Throws: `model_invalid` naming the option. */
export function checkOptions(options: EngineOptions, hostOptions: object = {}): void {
  checkNames('', { ...hostOptions, ...HOST_OPTIONS, ...MODEL_OPTIONS, ...OTHER_OPTIONS }, options);
  const {
    link = HOST_OPTIONS.link.cpuDefault,
    prefixCaching,
    stepTimeoutMs,
    tuning = {},
    constraints = {},
  } = options;
  checkNames('tuning.', TUNING_OPTIONS, tuning);
  checkNames('constraints.', CONSTRAINT_OPTIONS, constraints);
  if (typeof options.modelDir !== 'string')
    throw wrongOption(
      'modelDir',
      `must be the path of a model folder; got ${describeValue(options.modelDir)}`,
    );
  checkRanges('', { ...HOST_OPTIONS, ...MODEL_OPTIONS, ...OTHER_OPTIONS }, options);
  checkRanges('tuning.', TUNING_OPTIONS, tuning);
  checkRanges('constraints.', CONSTRAINT_OPTIONS, constraints);
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

/** Callers without types may give anything, or nothing. `name` is empty for all options. Throws: `model_invalid` naming the option. */
export function checkIsObject(name: string, value: unknown): void {
  if (isObject(value)) return;
  const problem = `must be an object; got ${describeValue(value)}`;
  if (name !== '') throw wrongOption(name, problem);
  throw new EngineError('model_invalid', `The options ${problem}.`);
}

/**
 * A misspelt option would have no effect. `path` is put before its name. Throws: `model_invalid` naming the
 * option.
 */
export function checkNames(path: string, known: object, values: object): void {
  checkIsObject(path.replace(/\.$/, ''), values);
  const unknown = Object.keys(values).find(name => !Object.hasOwn(known, name));
  if (unknown === undefined) return;
  const names = Object.keys(known).join(', ');
  throw wrongOption(`${path}${unknown}`, `is unknown; there are ${names}`);
}

function checkRanges(path: string, table: Readonly<Record<string, Check>>, values: object): void {
  const given = new Map(Object.entries(values));
  for (const [name, { range, isInRange }] of Object.entries(table)) {
    const value = given.get(name);
    if (value !== undefined && !isInRange(value as never))
      throw wrongOption(`${path}${name}`, `must be ${range}; got ${describeValue(value)}`);
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
