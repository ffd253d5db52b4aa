// The error class of this package and its closed list of codes. Callers switch on `code`.

/**
 * Why a task has no result.
 *
 * - `queue_full`: too many tasks wait.
 * - `aborted`: the caller's signal fired before the task had ended.
 * - `closed`: the worker was closed.
 * - `start_failed`: the thread did not come up.
 * - `not_cloneable`: the input cannot be copied to the thread.
 * - `timeout`: the task ran past its time limit; its thread was ended.
 * - `crashed`: the task ended its thread, mostly by running out of memory.
 * - `task_failed`: the task refused its input; `taskCode` is its own code.
 */
export type WorkerErrorCode =
  | 'queue_full'
  | 'aborted'
  | 'closed'
  | 'start_failed'
  | 'not_cloneable'
  | 'timeout'
  | 'crashed'
  | 'task_failed';

export interface WorkerErrorDetails {
  readonly taskCode?: string;
  readonly cause?: unknown;
}

/** The error that `KillableWorker.run` rejects with. */
export class WorkerError extends Error {
  override readonly name = 'WorkerError';
  readonly code: WorkerErrorCode;
  readonly taskCode: string | undefined;

  constructor(code: WorkerErrorCode, message: string, { taskCode, cause }: WorkerErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.taskCode = taskCode;
  }
}
