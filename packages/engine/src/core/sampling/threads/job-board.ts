// Jobs and answers in memory shared by threads. One thread posts jobs, all claim them, and the one that posted waits until
// the jobs that others claimed are done. Callers: `sampling-threads.ts`, `sampling-thread-entry.ts`.
//
// A job is claimed by lowering the count of those that are left. It is raised only when every job has been written and every
// claimed job of the round before is done, so a thread that lowers it, however late, holds a job that is there and is its own.

import { NEUTRAL_SAMPLING } from '../../../request/sampling-params.ts';
import type { SampledToken } from '../sampler.ts';
import type { RowAnswer, RowJob } from './row-job.ts';

/** Jobs of one round. */
export const JOB_LIMIT = 256;

/** Maximum number of candidates of an answer beside its token. */
export const TOP_LIMIT = 64;

/** Words that threads wait for and are woken by. */
const WORD = { left: 0, done: 1, round: 2, closed: 3 } as const;
const WORD_COUNT = Object.keys(WORD).length;

/** Fields of a job. Those of the other kind are not written; `topCount` is written only with `hasLogprobs`. Flags are 0 or 1. */
const JOB = {
  kind: 0,
  row: 1,
  hasLogprobs: 2,
  topCount: 3,
  tokenId: 4,
  position: 5,
  keyLow: 6,
  keyHigh: 7,
  temperature: 8,
  topP: 9,
  topK: 10,
  minP: 11,
  isEdited: 12,
} as const;
const JOB_LENGTH = Object.keys(JOB).length;
const KIND = { draw: 0, read: 1 } as const;

/** Fields of an answer. Those after `hasLogprobs` are written only with it. */
const ANSWER = { tokenId: 0, hasLogprobs: 1, topLength: 2, logprob: 3, rank: 4 } as const;
const ANSWER_LENGTH = Object.keys(ANSWER).length;

const BOARD_BYTES =
  8 * JOB_LIMIT * (JOB_LENGTH + ANSWER_LENGTH) + 4 * (WORD_COUNT + JOB_LIMIT * (1 + 2 * TOP_LIMIT));

export class JobBoard {
  readonly buffer: SharedArrayBuffer;
  /** Shape: `[JOB_LIMIT, JOB_LENGTH]`. */
  readonly #jobs: Float64Array;
  /** Shape: `[JOB_LIMIT, ANSWER_LENGTH]`. */
  readonly #answers: Float64Array;
  readonly #words: Int32Array<SharedArrayBuffer>;
  /** 1 where the answer is there. Shape: `[JOB_LIMIT]`. */
  readonly #isAnswered: Int32Array;
  /** Shape: `[JOB_LIMIT, TOP_LIMIT]`. */
  readonly #topTokenIds: Int32Array;
  /** Shape: `[JOB_LIMIT, TOP_LIMIT]`. */
  readonly #topLogprobs: Float32Array;

  /** A new board, or the one that another thread made. */
  constructor(buffer = new SharedArrayBuffer(BOARD_BYTES)) {
    this.buffer = buffer;
    let end = 0;
    const place = (length: number, elementBytes: number): number => {
      end += length * elementBytes;
      return end - length * elementBytes;
    };
    const [jobLength, answerLength, topLength] = [JOB_LENGTH, ANSWER_LENGTH, TOP_LIMIT].map(
      length => length * JOB_LIMIT,
    ) as [number, number, number];
    this.#jobs = new Float64Array(buffer, place(jobLength, 8), jobLength);
    this.#answers = new Float64Array(buffer, place(answerLength, 8), answerLength);
    this.#words = new Int32Array(buffer, place(WORD_COUNT, 4), WORD_COUNT);
    this.#isAnswered = new Int32Array(buffer, place(JOB_LIMIT, 4), JOB_LIMIT);
    this.#topTokenIds = new Int32Array(buffer, place(topLength, 4), topLength);
    this.#topLogprobs = new Float32Array(buffer, place(topLength, 4), topLength);
  }

  /**
   * Begins a round and wakes that many waiting threads. At most `JOB_LIMIT` jobs, each with at most `TOP_LIMIT`
   * candidates.
   */
  post(jobs: readonly RowJob[], wakeCount: number): void {
    for (const [index, job] of jobs.entries()) this.#writeJob(index, job);
    this.#isAnswered.fill(0, 0, jobs.length);
    Atomics.store(this.#words, WORD.done, 0);
    Atomics.store(this.#words, WORD.left, jobs.length);
    Atomics.add(this.#words, WORD.round, 1);
    Atomics.notify(this.#words, WORD.round, wakeCount);
  }

  /** Claims a job and returns its index. Null when none is left. */
  claim(): number | null {
    for (;;) {
      const left = Atomics.load(this.#words, WORD.left);
      if (left === 0) return null;
      if (Atomics.compareExchange(this.#words, WORD.left, left, left - 1) === left) return left - 1;
    }
  }

  /** Of another thread. */
  readJob(index: number): RowJob {
    const at = index * JOB_LENGTH;
    const field = (name: keyof typeof JOB): number => this.#jobs[at + JOB[name]]!;
    const row = field('row');
    if (field('kind') === KIND.read)
      return { kind: 'read', row, tokenId: field('tokenId'), topCount: field('topCount') };
    return {
      kind: 'draw',
      row,
      position: field('position'),
      isEdited: field('isEdited') === 1,
      topCount: field('hasLogprobs') === 1 ? field('topCount') : undefined,
      randomKey: { low: field('keyLow'), high: field('keyHigh') },
      params: {
        ...NEUTRAL_SAMPLING,
        temperature: field('temperature'),
        topP: field('topP'),
        topK: field('topK'),
        minP: field('minP'),
      },
    };
  }

  /** Ends a job that another thread posted. Null: it could not be answered. */
  writeAnswer(index: number, answer: RowAnswer | null): void {
    if (answer?.kind === 'draw') this.#writeToken(index, answer.token);
    else if (answer?.kind === 'read')
      this.#writeToken(index, { tokenId: answer.logprobs.tokenId, logprobs: answer.logprobs });
    this.#isAnswered[index] = answer === null ? 0 : 1;
    Atomics.add(this.#words, WORD.done, 1);
    Atomics.notify(this.#words, WORD.done);
  }

  /** The answer to a job that another thread has ended. Null: that thread could not answer it. */
  readAnswer(index: number): RowAnswer | null {
    if (this.#isAnswered[index] === 0) return null;
    const at = index * ANSWER_LENGTH;
    const field = (name: keyof typeof ANSWER): number => this.#answers[at + ANSWER[name]]!;
    const tokenId = field('tokenId');
    if (field('hasLogprobs') === 0) return { kind: 'draw', token: { tokenId } };
    const top = index * TOP_LIMIT;
    const topLength = field('topLength');
    const logprobs = {
      tokenId,
      logprob: field('logprob'),
      rank: field('rank'),
      topTokenIds: this.#topTokenIds.slice(top, top + topLength),
      topLogprobs: this.#topLogprobs.slice(top, top + topLength),
    };
    const isRead = this.#jobs[index * JOB_LENGTH + JOB.kind] === KIND.read;
    return isRead ? { kind: 'read', logprobs } : { kind: 'draw', token: { tokenId, logprobs } };
  }

  /** Blocks until others have ended `count` jobs. False: they did not within that time after the last one. */
  waitForDone(count: number, timeoutMs: number): boolean {
    for (;;) {
      const done = Atomics.load(this.#words, WORD.done);
      if (done >= count) return true;
      if (Atomics.wait(this.#words, WORD.done, done, timeoutMs) === 'timed-out') return false;
    }
  }

  /** To be given to `waitForRound`. */
  get round(): number {
    return Atomics.load(this.#words, WORD.round);
  }

  /** Blocks until a round begins after `round`. False: the board is closed. */
  waitForRound(round: number): boolean {
    if (this.#isOpen) Atomics.wait(this.#words, WORD.round, round);
    return this.#isOpen;
  }

  /** Ends the threads that wait for rounds. */
  close(): void {
    Atomics.store(this.#words, WORD.closed, 1);
    Atomics.add(this.#words, WORD.round, 1);
    Atomics.notify(this.#words, WORD.round);
  }

  get #isOpen(): boolean {
    return Atomics.load(this.#words, WORD.closed) === 0;
  }

  #writeJob(index: number, job: RowJob): void {
    const at = index * JOB_LENGTH;
    const write = (name: keyof typeof JOB, value: number): void => {
      this.#jobs[at + JOB[name]] = value;
    };
    write('kind', KIND[job.kind]);
    write('row', job.row);
    write('hasLogprobs', job.topCount === undefined ? 0 : 1);
    if (job.topCount !== undefined) write('topCount', job.topCount);
    if (job.kind === 'read') {
      write('tokenId', job.tokenId);
      return;
    }
    const { position, randomKey, params, isEdited } = job;
    write('position', position);
    write('keyLow', randomKey.low);
    write('keyHigh', randomKey.high);
    write('temperature', params.temperature);
    write('topP', params.topP);
    write('topK', params.topK);
    write('minP', params.minP);
    write('isEdited', isEdited ? 1 : 0);
  }

  #writeToken(index: number, { tokenId, logprobs }: SampledToken): void {
    const at = index * ANSWER_LENGTH;
    this.#answers[at + ANSWER.tokenId] = tokenId;
    this.#answers[at + ANSWER.hasLogprobs] = logprobs === undefined ? 0 : 1;
    if (logprobs === undefined) return;
    this.#answers[at + ANSWER.topLength] = logprobs.topTokenIds.length;
    this.#answers[at + ANSWER.logprob] = logprobs.logprob;
    this.#answers[at + ANSWER.rank] = logprobs.rank;
    this.#topTokenIds.set(logprobs.topTokenIds, index * TOP_LIMIT);
    this.#topLogprobs.set(logprobs.topLogprobs, index * TOP_LIMIT);
  }
}
