// Retry limits: how often a step may fail before its requests fail, and how many steps in a row may be given up before the
// model counts as broken. Only counts; the caller, `engine-core.ts`, knows the requests.

import { EngineError } from '../../errors.ts';
import type { FatalMessage } from '../../protocol/messages.ts';
import type { SettledCoreSettings } from '../core-settings.ts';

/** Consequences of a step that was given up. */
export interface GivenUpStep {
  /** The error of its requests. */
  readonly error: EngineError;
  /** Absent while the model may go on with other requests. */
  readonly fatal?: FatalMessage;
}

export class StepFailures {
  readonly #limits: Pick<SettledCoreSettings, 'stepRetryLimit' | 'fatalFailureLimit'>;
  /** Attempts of the current step. */
  #attemptCount = 0;
  /** Steps given up in a row. */
  #givenUpCount = 0;

  constructor(limits: Pick<SettledCoreSettings, 'stepRetryLimit' | 'fatalFailureLimit'>) {
    this.#limits = limits;
  }

  /** A step was committed: what failed before it counts no more. */
  stepCommitted(): void {
    this.#attemptCount = 0;
    this.#givenUpCount = 0;
  }

  /** Counts one failed attempt. Null: the step may be tried again. */
  attemptFailed(cause: unknown): GivenUpStep | null {
    this.#attemptCount++;
    if (this.#attemptCount <= this.#limits.stepRetryLimit) return null;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `The model call failed ${this.#attemptCount} times: ${reason}`;
    const error = new EngineError('engine_failed', message, { cause });
    this.#attemptCount = 0;
    this.#givenUpCount++;
    if (this.#givenUpCount < this.#limits.fatalFailureLimit) return { error };
    const last = `${this.#givenUpCount} steps in a row failed; the last one: ${reason}`;
    return { error, fatal: { kind: 'fatal', code: 'engine_failed', message: last } };
  }
}
