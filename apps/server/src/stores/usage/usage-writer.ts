// Writes usage in batches: all that is recorded while a batch is written goes into the next one, so many answers share one
// commit, and each waits for its own only.

import type { UsageRecord } from '@ortler/api';
import type { UsageTable } from '../../db/tables/usage.ts';
import { beforeTimeout } from '../../system/before-timeout.ts';

/** Pause after a batch that could not be written. Unit: milliseconds. */
const RETRY_MS = 1_000;

/** Longest wait of an answer for a database that hangs. Unit: milliseconds. */
const PATIENCE_MS = 2_000;

/** Longest wait of a stop for a database that hangs. Unit: milliseconds. */
const CLOSE_MS = 5_000;

type Waiter = () => void;

/** What is written in one transaction. */
export interface UsageBatch {
  /** Grows with each batch of a writer. A batch that is written again, because its commit was not acknowledged, has the same one. */
  readonly number: number;
  readonly rows: readonly UsageTable[];
}

export class UsageWriter {
  readonly #write: (batch: UsageBatch) => Promise<void>;
  #rows = new Map<string, UsageTable>();
  /** Could not be written, or was, and its commit was not acknowledged. It stays as it is, apart from what is recorded later. */
  #unacknowledged: UsageBatch | undefined;
  #batchCount = 0;
  #waiters: Waiter[] = [];
  #writing: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;

  /** @param write Adds the rows to those of the table, all or none, unless this batch was stored already. */
  constructor(write: (batch: UsageBatch) => Promise<void>) {
    this.#write = write;
  }

  /** Resolves when the usage is stored, or when the database takes no writes now, or hangs, and it will be stored later. */
  record(usage: UsageRecord): Promise<void> {
    this.#add(toRow(usage));
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, PATIENCE_MS).unref();
    this.#waiters.push(() => {
      clearTimeout(timer);
      resolve();
    });
    this.#writing ??= this.#writeAll();
    return promise;
  }

  /** Writes what is left, as far as the database takes it soon. */
  async close(): Promise<void> {
    clearTimeout(this.#retry);
    const writeRest = async () => {
      await this.#writing;
      await this.#writeBatch();
    };
    await beforeTimeout(CLOSE_MS, writeRest(), undefined);
    clearTimeout(this.#retry);
  }

  async #writeAll(): Promise<void> {
    while (this.#waiters.length > 0) {
      const waiters = this.#waiters;
      this.#waiters = [];
      await this.#writeBatch().catch(() => this.#retryLater());
      for (const resolve of waiters) resolve();
    }
    this.#writing = undefined;
  }

  /** Writes what was not acknowledged, then what was recorded since. Throws: as `write`; then the rows stay. */
  async #writeBatch(): Promise<void> {
    clearTimeout(this.#retry);
    if (this.#unacknowledged !== undefined) await this.#writeOne(this.#unacknowledged);
    if (this.#rows.size === 0) return;
    const rows = [...this.#rows.values()];
    this.#rows = new Map();
    await this.#writeOne({ number: ++this.#batchCount, rows });
  }

  async #writeOne(batch: UsageBatch): Promise<void> {
    this.#unacknowledged = batch;
    await this.#write(batch);
    this.#unacknowledged = undefined;
  }

  #retryLater(): void {
    this.#retry = setTimeout(() => {
      if (this.#writing !== undefined) return;
      this.#writing = this.#writeBatch()
        .catch(() => this.#retryLater())
        .then(() => this.#writeAll());
    }, RETRY_MS).unref();
  }

  #add(row: UsageTable): void {
    const key = JSON.stringify([row.day, row.key_id, row.team, row.project, row.model]);
    const known = this.#rows.get(key);
    this.#rows.set(key, known === undefined ? row : addCounts(known, row));
  }
}

function addCounts(a: UsageTable, b: UsageTable): UsageTable {
  return {
    ...a,
    request_count: a.request_count + b.request_count,
    input_token_count: a.input_token_count + b.input_token_count,
    cached_token_count: a.cached_token_count + b.cached_token_count,
    output_token_count: a.output_token_count + b.output_token_count,
  };
}

function toRow(usage: UsageRecord): UsageTable {
  return {
    day: dayOf(usage.atMs),
    key_id: usage.keyId,
    team: usage.team ?? '',
    project: usage.project ?? '',
    model: usage.model,
    request_count: usage.requestCount,
    input_token_count: usage.inputTokenCount,
    cached_token_count: usage.cachedTokenCount,
    output_token_count: usage.outputTokenCount,
  };
}

/** The day in UTC, such as `2026-11-23`. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
