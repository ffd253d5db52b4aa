// Worker threads of the sampler: while those of the model wait for the next tokens, these take rows of large vocabularies.
// The thread of the step loop takes rows as well, so nothing is lost where they come late or not at all. Caller:
// `../../step/sample-step.ts`. Measurements: ADR 37.

import { Worker } from 'node:worker_threads';
import { type EntryModule, entryModule } from '@ortler/worker';
import { attempt } from '../../../errors.ts';
import { type SharedRows, shareRows } from '../../row-memory/row-memory.ts';
import type { Sampler } from '../sampler.ts';
import { JOB_LIMIT, JobBoard, TOP_LIMIT } from './job-board.ts';
import { answerRowJob, type RowAnswer, type RowJob, weighsRow } from './row-job.ts';

export interface SamplingThreadsOptions {
  /** Threads besides the one that calls. They start with the first step that is worth it. */
  readonly threadCount: number;
  /**
   * Other threads are woken for steps whose weighed rows have at least this many tokens together. Default:
   * where waking them pays off.
   */
  readonly minTokenCount?: number;
  /** How long others may take for a row. Unit: milliseconds. */
  readonly answerTimeoutMs?: number;
  /** Main module of the threads. Default: the entry of this folder. */
  readonly entry?: EntryModule;
}

/** Start data of a thread. */
export interface SamplingThreadData {
  readonly board: SharedArrayBuffer;
  /** Begins with the first row of every step. */
  readonly logits: SharedRows;
  readonly vocabSize: number;
}

/** Two rows of 131,072: with fewer tokens waking a thread costs about what it saves, and for greedy rows always (ADR 37). */
const MIN_TOKEN_COUNT = 262_144;

/** A thousand times what a row takes: a thread that needs longer has died, or the machine has no time for it. */
const ANSWER_TIMEOUT_MS = 1_000;

/**
 * Maximum number of times that threads are started: where they keep failing, every attempt delays a step by
 * the timeout.
 */
const POOL_LIMIT = 3;

/** Threads with the board and the logits that they see. */
interface ThreadPool {
  readonly board: JobBoard;
  readonly logits: SharedArrayBuffer;
  readonly workers: Set<Worker>;
}

export class SamplingThreads {
  readonly #options: SamplingThreadsOptions;
  #pool: ThreadPool | null = null;
  #poolCount = 0;

  constructor(options: SamplingThreadsOptions) {
    this.#options = options;
  }

  /**
   * The answer to each job, or why there is none. `own` is what else the caller has to do; others begin meanwhile. Only
   * logits at the start of shared memory, always the same, are seen by others. Shape: `logits` is `[rows, vocabSize]`.
   */
  answer(
    sampler: Sampler,
    logits: Float32Array,
    jobs: readonly RowJob[],
    own: () => void,
  ): (RowAnswer | Error)[] {
    const pool = this.#poolFor(logits, jobs, sampler.vocabSize);
    if (pool === null) {
      own();
      return jobs.map(job => tryJob(sampler, logits, job));
    }
    const answers: (RowAnswer | Error | undefined)[] = [];
    const shareable = [...jobs.keys()].filter(index => (jobs[index]!.topCount ?? 0) <= TOP_LIMIT);
    for (let start = 0; start === 0 || start < shareable.length; start += JOB_LIMIT) {
      const indexes = shareable.slice(start, start + JOB_LIMIT);
      pool.board.post(
        indexes.map(index => jobs[index]!),
        Math.min(pool.workers.size, indexes.length),
      );
      if (start === 0) own();
      if (!this.#finish(pool.board, sampler, logits, { jobs, indexes, answers })) break;
    }
    return jobs.map((job, index) => answers[index] ?? tryJob(sampler, logits, job));
  }

  /** Ends the threads. */
  async dispose(): Promise<void> {
    const pool = this.#pool;
    if (pool === null) return;
    this.#pool = null;
    const ended = [...pool.workers].map(worker => {
      worker.ref();
      return new Promise(resolve => worker.once('exit', resolve));
    });
    pool.board.close();
    await Promise.all(ended);
  }

  /**
   * Takes jobs of the board until there are none and waits for those that others took. False: they do not come back; all
   * answers that are there are good.
   */
  #finish(
    board: JobBoard,
    sampler: Sampler,
    logits: Float32Array,
    round: {
      readonly jobs: readonly RowJob[];
      /** Indexes of the jobs on the board. */
      readonly indexes: readonly number[];
      readonly answers: (RowAnswer | Error | undefined)[];
    },
  ): boolean {
    const { jobs, indexes, answers } = round;
    let otherCount = indexes.length;
    for (let claimed = board.claim(); claimed !== null; claimed = board.claim()) {
      const index = indexes[claimed]!;
      answers[index] = tryJob(sampler, logits, jobs[index]!);
      otherCount--;
    }
    if (!board.waitForDone(otherCount, this.#options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS)) {
      this.#abandon();
      return false;
    }
    for (const [place, index] of indexes.entries()) answers[index] ??= board.readAnswer(place) ?? undefined;
    return true;
  }

  /** Null where no other thread can help, or waking one does not pay. */
  #poolFor(logits: Float32Array, jobs: readonly RowJob[], vocabSize: number): ThreadPool | null {
    const { threadCount, minTokenCount = MIN_TOKEN_COUNT } = this.#options;
    if (threadCount === 0 || jobs.length < 2) return null;
    let weighedCount = 0;
    for (const job of jobs) if (weighsRow(job)) weighedCount++;
    if (weighedCount < 2 || weighedCount * vocabSize < minTokenCount) return null;
    const { buffer } = logits;
    if (!(buffer instanceof SharedArrayBuffer) || logits.byteOffset !== 0) return null;
    if (this.#pool === null && this.#poolCount < POOL_LIMIT) this.#pool = this.#start(buffer, vocabSize);
    return this.#pool?.logits === buffer && this.#pool.workers.size > 0 ? this.#pool : null;
  }

  #start(logits: SharedArrayBuffer, vocabSize: number): ThreadPool {
    this.#poolCount++;
    const board = new JobBoard();
    const { threadCount, entry = entryModule('./sampling-thread-entry', import.meta.url) } = this.#options;
    const workerData: SamplingThreadData = {
      board: board.buffer,
      logits: shareRows(logits),
      vocabSize,
    };
    const workers = new Set<Worker>();
    for (let index = 0; index < threadCount; index++) {
      const worker = attempt(() => new Worker(entry.url, { execArgv: [...entry.execArgv], workerData }));
      // The system gives no further thread.
      if (worker instanceof Error) break;
      workers.add(worker);
      // A thread that fails is not replaced: the remaining ones answer its rows.
      worker.on('error', () => workers.delete(worker));
      worker.once('exit', () => workers.delete(worker));
      // A process that has nothing else to do ends.
      worker.unref();
    }
    return { board, logits, workers };
  }

  /** Abandons threads that hold jobs: they may still write, but to a board that is no longer read. */
  #abandon(): void {
    for (const worker of this.#pool?.workers ?? []) void worker.terminate();
    this.#pool = null;
  }
}

function tryJob(sampler: Sampler, logits: Float32Array, job: RowJob): RowAnswer | Error {
  return attempt(() => answerRowJob(sampler, logits, job));
}
