// Options of `createEngine`: those of the tables in options.ts, and those that stay in the process of the caller because they
// are not plain data.

import type { ConstraintOptions } from './constraint-options.ts';
import type { WarmUpProgress } from './messages.ts';
import type { CoreOptions, HOST_OPTIONS, ValuesOf } from './options.ts';

export interface EngineOptions extends CoreOptions, ValuesOf<typeof HOST_OPTIONS> {
  /** Limits on the constraints of requests. */
  readonly constraints?: ConstraintOptions | undefined;
  /** Called while a device compiles the model, before it is loaded and again after each restart. */
  readonly onWarmUp?: ((progress: WarmUpProgress) => void) | undefined;
  /** A line that the model's process wrote to its output or error stream. Default: this process's error stream. */
  readonly onModelOutput?: ((line: string) => void) | undefined;
  /** Id of each child process that the model runs in; only with `link: 'process'`. */
  readonly onModelProcess?: ((pid: number) => void) | undefined;
}
