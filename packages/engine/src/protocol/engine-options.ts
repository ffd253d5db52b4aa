// Options of `createEngine`: those of the tables in options.ts, and those that stay in the process of the caller because they
// are not plain data.

import type { ConstraintPreparerOptions } from '@ortler/structured-output';
import type { EngineError } from '../errors.ts';
import type { CacheEvent } from './cache-event.ts';
import type { WarmUpProgress } from './messages.ts';
import { type CoreOptions, type HOST_OPTIONS, MODEL_OPTIONS, type ValuesOf } from './options.ts';

/** Limits that the host puts on constraints of requests, and the form of JSON where a request does not say. */
export type ConstraintOptions = Pick<ConstraintPreparerOptions, 'limits' | 'timeLimitMs' | 'style'>;

export interface EngineOptions extends CoreOptions, ValuesOf<typeof HOST_OPTIONS> {
  /** Limits on the constraints of requests, and their default style of JSON. */
  readonly constraints?: ConstraintOptions | undefined;
  /**
   * Chat template in place of the model's own: Jinja source, or the name of one of the model's templates. Default: the one of the
   * model's folder, if there is one.
   */
  readonly chatTemplate?: string | undefined;
  /** Called while a device compiles the model, before it is loaded and again after each restart. */
  readonly onWarmUp?: ((progress: WarmUpProgress) => void) | undefined;
  /** The model stopped while it was in use: its process ended or hung, or its device was lost. It is started again, if possible. */
  readonly onFailed?: ((error: EngineError) => void) | undefined;
  /**
   * Changes of the prefix cache, after each step that changed it; only with `cacheEvents`. When the model stops, its cache is
   * gone: `onFailed` and `close` say so, no event does.
   */
  readonly onCacheEvents?: ((events: readonly CacheEvent[]) => void) | undefined;
  /** A line that the model's process wrote to its output or error stream. Default: this process's error stream. */
  readonly onModelOutput?: ((line: string) => void) | undefined;
  /** Id of each child process that the model runs in; only with `link: 'process'`. */
  readonly onModelProcess?: ((pid: number) => void) | undefined;
}

/**
 * The options that cross the link: those of the token side, as the caller gave them. They are plain data; callbacks and options
 * of the host stay behind.
 */
export function toCoreOptions({ modelDir, tuning, ...others }: EngineOptions): CoreOptions {
  const given = Object.entries(others).filter(([name]) => Object.hasOwn(MODEL_OPTIONS, name));
  return { ...Object.fromEntries(given), modelDir, tuning };
}
