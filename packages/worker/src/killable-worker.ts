// Runs tasks in a worker thread, one at a time, and terminates the thread when a task exceeds its time or memory limit. For
// untrusted input that decides the cost of the work: templates, schemas, regular expressions.

import { Worker } from 'node:worker_threads';
import type { EntryModule } from './entry-module.ts';
import { WorkerError } from './errors.ts';
import { ShareQueue } from './share-queue.ts';

export interface KillableWorkerOptions {
  readonly entry: EntryModule;
  readonly workerData?: unknown;
  /** From the moment the thread begins the task. `Infinity`: none. */
  readonly timeLimitMs: number;
  /** From the start of the thread until it takes its first task. */
  readonly startLimitMs: number;
  readonly memoryLimitMb: number;
  readonly queueLimit: number;
  /** Most waiting tasks of one share. Default: `queueLimit`. */
  readonly queueLimitPerShare?: number;
}

/** Messages from the thread. */
export type WorkerReply =
  | { readonly kind: 'started' }
  | { readonly kind: 'done'; readonly result: unknown }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

/** A message to the thread. */
export interface WorkerRequest<Input> {
  readonly input: Input;
  readonly begun: Int32Array<SharedArrayBuffer>;
}

/** Longest time that a task runs on after its caller has left. Unit: milliseconds. */
const ABORT_GRACE_MS = 500;

/** A timer of Node with a longer delay fires at once. Unit: milliseconds. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

interface Task {
  readonly share: string;
  readonly input: unknown;
  /** 1 once the thread has begun the task. Shared memory: a thread that crashes at once may lose its messages. */
  readonly begun: Int32Array<SharedArrayBuffer>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  /** Whether its caller has left. */
  isAborted: boolean;
}

/** One thread, started with the first task and restarted after a task that was terminated. */
export class KillableWorker<Input, Result> {
  readonly #options: KillableWorkerOptions;
  #worker: Worker | null = null;
  #current: Task | null = null;
  #timer: NodeJS.Timeout | null = null;
  readonly #queue = new ShareQueue<Task>();
  #isClosed = false;

  constructor(options: KillableWorkerOptions) {
    this.#options = options;
  }

  /**
   * Runs one task. The task of a caller who leaves is dropped while it waits, and soon terminated once it runs.
   * @param share Whose task it is: shares take turns. Default: one share of all.
   * Throws: `WorkerError`.
   */
  run(input: Input, signal?: AbortSignal, share = ''): Promise<Result> {
    if (this.#isClosed) return Promise.reject(closed());
    // Its event has come already and does not come again.
    if (signal?.aborted) return Promise.reject(aborted());
    const { queueLimit, queueLimitPerShare = queueLimit } = this.#options;
    if (this.#queue.length >= queueLimit || this.#queue.countOf(share) >= queueLimitPerShare) {
      return Promise.reject(new WorkerError('queue_full', 'Too many tasks wait for the worker.'));
    }
    return new Promise<Result>((resolve, reject) => {
      const onAbort = (): void => this.#abort(task);
      const settle = (): void => signal?.removeEventListener('abort', onAbort);
      const task: Task = {
        share,
        input,
        begun: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
        resolve: result => {
          settle();
          resolve(result as Result);
        },
        reject: error => {
          settle();
          reject(error);
        },
        isAborted: false,
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#queue.push(share, task);
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const task of this.#queue.drain()) task.reject(closed());
    const current = this.#takeCurrent();
    current?.reject(closed());
    await this.#kill();
  }

  #abort(task: Task): void {
    task.isAborted = true;
    if (task === this.#current) {
      // A thread that still starts serves the next task.
      if (Atomics.load(task.begun, 0) === 1) this.#limit(ABORT_GRACE_MS);
    } else if (this.#queue.remove(task.share, task)) task.reject(aborted());
  }

  #next(): void {
    if (this.#current !== null) return;
    const task = this.#queue.shift();
    if (task === undefined) {
      // An idle worker must not keep the process alive.
      this.#worker?.unref();
      return;
    }
    this.#current = task;
    try {
      this.#worker ??= this.#start();
    } catch (cause) {
      // The system gives no further thread: a container may have too many.
      this.#refuse(task, startFailed(cause));
      return;
    }
    this.#worker.ref();
    this.#limit(this.#options.startLimitMs);
    try {
      const request: WorkerRequest<unknown> = { input: task.input, begun: task.begun };
      this.#worker.postMessage(request);
    } catch (cause) {
      const message = 'The input cannot be copied to the worker.';
      this.#refuse(task, new WorkerError('not_cloneable', message, { cause }));
    }
  }

  /** Ends the current task, which the thread has not got, and takes the next one. */
  #refuse(task: Task, error: WorkerError): void {
    this.#takeCurrent();
    task.reject(error);
    this.#next();
  }

  #start(): Worker {
    const { entry, workerData, memoryLimitMb } = this.#options;
    const worker = new Worker(entry.url, {
      workerData,
      execArgv: [...entry.execArgv],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: memoryLimitMb },
    });
    worker.on('message', (reply: WorkerReply) => {
      if (worker === this.#worker) this.#receive(reply);
    });
    // A thread that is out of memory reports an error, then exits.
    worker.on('error', cause => this.#fail(worker, 'crashed', cause));
    worker.on('exit', () => this.#fail(worker, 'crashed'));
    return worker;
  }

  #receive(reply: WorkerReply): void {
    if (reply.kind === 'started') {
      this.#limit(this.#current?.isAborted === true ? ABORT_GRACE_MS : this.#options.timeLimitMs);
      return;
    }
    const task = this.#takeCurrent();
    if (reply.kind === 'done') task?.resolve(reply.result);
    else task?.reject(new WorkerError('task_failed', reply.message, { taskCode: reply.code }));
    this.#next();
  }

  #fail(worker: Worker, code: 'timeout' | 'crashed', cause?: unknown): void {
    if (worker !== this.#worker) return;
    void this.#kill();
    const task = this.#takeCurrent();
    task?.reject(toFailure(task, code, cause));
    this.#next();
  }

  #limit(ms: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    const worker = this.#worker;
    const timer = setTimeout(
      () => {
        // After a long turn of the event loop timers come first, so an answer that has come meanwhile is read before the task is
        // called too slow.
        setImmediate(() => {
          if (worker !== null && timer === this.#timer) this.#fail(worker, 'timeout');
        });
      },
      Math.min(ms, LONGEST_DELAY_MS),
    );
    this.#timer = timer;
  }

  #takeCurrent(): Task | null {
    const task = this.#current;
    this.#current = null;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    return task;
  }

  async #kill(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }
}

function aborted(): WorkerError {
  return new WorkerError('aborted', 'The task was aborted.');
}

function closed(): WorkerError {
  return new WorkerError('closed', 'The worker was closed.');
}

function startFailed(cause?: unknown): WorkerError {
  return new WorkerError('start_failed', 'The worker thread could not start.', { cause });
}

function toFailure({ begun, isAborted }: Task, code: 'timeout' | 'crashed', cause: unknown): WorkerError {
  if (isAborted) return aborted();
  // Before the task has begun, only the thread itself can be at fault, so its error holds nothing of a caller.
  if (Atomics.load(begun, 0) === 0) return startFailed(cause);
  return new WorkerError(code, code === 'timeout' ? 'The task took too long.' : 'The task ended its thread.');
}
