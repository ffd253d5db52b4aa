// A killable worker thread of the text side whose failures are `EngineError`s.

import { KillableWorker, type KillableWorkerOptions, WorkerError } from '@ortler/worker';
import { EngineError } from '../errors.ts';

export interface TextWorkerOptions extends KillableWorkerOptions {
  /** The error for a task that took too long, or too much memory. */
  readonly toLimitError: (limit: 'timeout' | 'crashed') => EngineError;
}

/** Delay for refused callers, in which a queue of the longest texts shrinks noticeably. Unit: milliseconds. */
const RETRY_AFTER_MS = 1000;

export class TextWorker<Input, Result> {
  readonly #worker: KillableWorker<Input, Result>;
  readonly #toLimitError: TextWorkerOptions['toLimitError'];

  constructor({ toLimitError, ...options }: TextWorkerOptions) {
    this.#worker = new KillableWorker(options);
    this.#toLimitError = toLimitError;
  }

  /** Throws: `overloaded`, `aborted`, `engine_closed`, `engine_failed`, the limit's error, and the task's own. */
  async run(input: Input, signal?: AbortSignal, share?: string): Promise<Result> {
    try {
      return await this.#worker.run(input, signal, share);
    } catch (error) {
      throw error instanceof WorkerError ? this.#toEngineError(error) : error;
    }
  }

  close(): Promise<void> {
    return this.#worker.close();
  }

  #toEngineError(error: WorkerError): EngineError {
    const details = { cause: error };
    switch (error.code) {
      case 'queue_full': {
        const message = 'Too many texts wait to be prepared; try again later.';
        return new EngineError('overloaded', message, { ...details, retryAfterMs: RETRY_AFTER_MS });
      }
      case 'aborted':
        return new EngineError('aborted', 'The request was aborted.', details);
      case 'closed':
        return new EngineError('engine_closed', 'The engine was closed.', details);
      case 'start_failed':
        return new EngineError('engine_failed', 'The thread that prepares texts could not start.', details);
      case 'not_cloneable': {
        const message = 'The values for the template cannot be copied: they must be plain data.';
        return new EngineError('invalid_request', message, details);
      }
      case 'timeout':
      case 'crashed':
        return this.#toLimitError(error.code);
      case 'task_failed':
        // Only templates can refuse their input.
        return new EngineError('template_failed', error.message, details);
    }
  }
}
