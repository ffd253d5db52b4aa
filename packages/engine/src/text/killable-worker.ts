// Runs one kind of pure task in a worker thread, one at a time, and kills the thread when a task takes too
// long or too much memory. For work whose cost a request decides: foreign templates, long texts.

import { Worker } from 'node:worker_threads';
import type { EntryModule } from '../entry-module.ts';
import { EngineError, type EngineErrorCode } from '../errors.ts';

export interface KillableWorkerOptions {
  readonly entry: EntryModule;
  readonly workerData?: unknown;
  /** From the moment the worker begins the task. */
  readonly timeLimitMs: number;
  /** From the start of the thread until it takes its first task. */
  readonly startLimitMs: number;
  readonly memoryLimitMb: number;
  readonly queueLimit: number;
  /** What a task that took too long, or ended the thread, is called to its caller. */
  readonly toError: (problem: 'timeout' | 'crash') => EngineError;
}

/** What the worker sends back. */
export type WorkerReply =
  | { readonly kind: 'started' }
  | { readonly kind: 'done'; readonly result: unknown }
  | { readonly kind: 'failed'; readonly code: EngineErrorCode; readonly message: string };

interface Task {
  readonly input: unknown;
  isBegun: boolean;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class KillableWorker<Input, Result> {
  readonly #options: KillableWorkerOptions;
  #worker: Worker | null = null;
  #current: Task | null = null;
  #timer: NodeJS.Timeout | null = null;
  readonly #queue: Task[] = [];
  #isClosed = false;

  constructor(options: KillableWorkerOptions) {
    this.#options = options;
  }

  /**
   * Runs one task. An aborted caller's task is dropped while it waits and ignored once it runs.
   * Throws: `overloaded`, `aborted`, `engine_closed`, what `toError` makes, and what the task itself throws.
   */
  run(input: Input, signal?: AbortSignal): Promise<Result> {
    if (this.#isClosed) return Promise.reject(closed());
    if (this.#queue.length >= this.#options.queueLimit) {
      const message = 'Too many texts wait to be prepared; try again later.';
      return Promise.reject(new EngineError('overloaded', message, { retryAfterMs: 1000 }));
    }
    return new Promise<Result>((resolve, reject) => {
      const onAbort = (): void => this.#dropWaiting(task);
      const settle = (): void => signal?.removeEventListener('abort', onAbort);
      const task: Task = {
        input,
        isBegun: false,
        resolve: result => {
          settle();
          resolve(result as Result);
        },
        reject: error => {
          settle();
          reject(error);
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#queue.push(task);
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const task of this.#queue.splice(0)) task.reject(closed());
    const current = this.#takeCurrent();
    current?.reject(closed());
    await this.#kill();
  }

  #dropWaiting(task: Task): void {
    const index = this.#queue.indexOf(task);
    if (index === -1) return;
    this.#queue.splice(index, 1);
    task.reject(new EngineError('aborted', 'The request was aborted.'));
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
    this.#worker ??= this.#start();
    this.#worker.ref();
    this.#limit(this.#options.startLimitMs);
    try {
      this.#worker.postMessage(task.input);
    } catch (cause) {
      this.#takeCurrent();
      const message = 'The values for the template cannot be copied: they must be plain data.';
      task.reject(new EngineError('invalid_request', message, { cause }));
      this.#next();
    }
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
    worker.on('error', () => this.#fail(worker, 'crash'));
    worker.on('exit', () => this.#fail(worker, 'crash'));
    return worker;
  }

  #receive(reply: WorkerReply): void {
    if (reply.kind === 'started') {
      if (this.#current !== null) this.#current.isBegun = true;
      this.#limit(this.#options.timeLimitMs);
      return;
    }
    const task = this.#takeCurrent();
    if (reply.kind === 'done') task?.resolve(reply.result);
    else task?.reject(new EngineError(reply.code, reply.message));
    this.#next();
  }

  #fail(worker: Worker, problem: 'timeout' | 'crash'): void {
    if (worker !== this.#worker) return;
    void this.#kill();
    const task = this.#takeCurrent();
    // Before the task has begun, only the thread itself can be at fault.
    const failedToStart = new EngineError('engine_failed', 'The thread that prepares texts could not start.');
    task?.reject(task.isBegun ? this.#options.toError(problem) : failedToStart);
    this.#next();
  }

  #limit(ms: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    const worker = this.#worker;
    this.#timer = setTimeout(() => {
      if (worker !== null) this.#fail(worker, 'timeout');
    }, ms);
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

function closed(): EngineError {
  return new EngineError('engine_closed', 'The engine was closed.');
}
