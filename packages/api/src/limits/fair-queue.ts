// Admits work of many callers to a scarce resource, such as the reader threads of a database: round robin between shares, a
// limit on what each share may use and queue, and a place for answers that their clients have not read yet.

import { ShareQueue } from '@ortler/worker';
import { ApiError } from '../trpc/errors.ts';
import { jittered } from './jitter.ts';

export interface FairQueueLimits {
  /** Maximum number of tasks that run at once. */
  readonly running: number;
  readonly runningPerShare: number;
  /** More waiting work of one share is refused. */
  readonly waitingPerShare: number;
  /** Work of a share waits while this many of its answers are in memory unread. */
  readonly unreadPerShare: number;
  /** Maximum number of unread answers over all shares. */
  readonly unread: number;
}

/** What the queue needs to know of a request. */
export interface QueuedCaller {
  /** The team or other caller that takes turns with others. */
  readonly share: string;
  /** Ends the wait of a caller who left. */
  readonly signal: AbortSignal;
  /** Calls the listener once the reply is written or its client has left. Absent: the answer is not kept. */
  readonly onReplyEnd?: ((listener: () => void) => void) | undefined;
}

/** Pause that a refused caller is asked to make, before jitter. Unit: milliseconds. */
const RETRY_AFTER_MS = 1_000;

/** Counts of one share that has work running or answers unread. */
interface Use {
  running: number;
  unread: number;
}

export class FairQueue {
  readonly #name: string;
  readonly #limits: FairQueueLimits;
  readonly #waiting = new ShareQueue<() => void>();
  readonly #uses = new Map<string, Use>();
  #running = 0;
  #unread = 0;

  /** @param name What runs, for messages: `feedback queries`. */
  constructor(name: string, limits: FairQueueLimits) {
    this.#name = name;
    this.#limits = limits;
  }

  /** Work that runs or waits, for tests and metrics. */
  get counts(): { readonly running: number; readonly waiting: number; readonly unread: number } {
    return { running: this.#running, waiting: this.#waiting.length, unread: this.#unread };
  }

  /**
   * Runs the work when it is the share's turn.
   * Throws: `overloaded` when the share has too much waiting work, the reason of the signal for a caller who left.
   */
  async run<Result>(caller: QueuedCaller, work: () => Promise<Result>): Promise<Result> {
    await this.#takeTurn(caller);
    try {
      const result = await work();
      if (caller.onReplyEnd !== undefined) this.#keepAnswer(caller.share, caller.onReplyEnd);
      return result;
    } finally {
      this.#count(caller.share, 'running', -1);
      this.#startNext();
    }
  }

  async #takeTurn({ share, signal }: QueuedCaller): Promise<void> {
    signal.throwIfAborted();
    if (this.#waiting.countOf(share) >= this.#limits.waitingPerShare)
      throw new ApiError('overloaded', `Too many ${this.#name} wait; try again later.`, {
        retryAfterMs: jittered(RETRY_AFTER_MS),
      });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const start = () => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    const leave = () => {
      this.#waiting.remove(share, start);
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', leave, { once: true });
    this.#waiting.push(share, start);
    this.#startNext();
    await promise;
  }

  #startNext(): void {
    while (this.#running < this.#limits.running && this.#unread < this.#limits.unread) {
      let turn: string | undefined;
      const start = this.#waiting.shift(share => {
        turn = share;
        return this.#mayRun(share);
      });
      if (start === undefined) return;
      this.#count(turn!, 'running', 1);
      start();
    }
  }

  #mayRun(share: string): boolean {
    const { running, unread } = this.#uses.get(share) ?? { running: 0, unread: 0 };
    return running < this.#limits.runningPerShare && unread < this.#limits.unreadPerShare;
  }

  #keepAnswer(share: string, onReplyEnd: NonNullable<QueuedCaller['onReplyEnd']>): void {
    this.#count(share, 'unread', 1);
    onReplyEnd(() => {
      this.#count(share, 'unread', -1);
      this.#startNext();
    });
  }

  #count(share: string, kind: keyof Use, change: 1 | -1): void {
    if (kind === 'running') this.#running += change;
    else this.#unread += change;
    const use = this.#uses.get(share) ?? { running: 0, unread: 0 };
    use[kind] += change;
    if (use.running + use.unread === 0) this.#uses.delete(share);
    else this.#uses.set(share, use);
  }
}
