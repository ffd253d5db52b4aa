// Writes usage in batches: all that is recorded while a batch is written goes into the next one, so many answers share one
// commit, and each waits for its own only.

import type { UsageRecord } from '@ortler/api';
import type { UsageTable } from '../../db/tables/usage.ts';

/** Pause after a batch that could not be written. Unit: milliseconds. */
const RETRY_MS = 1_000;

/** Longest wait of an answer for a database that hangs. Unit: milliseconds. */
const PATIENCE_MS = 2_000;

type Waiter = () => void;

export class UsageWriter {
  readonly #write: (rows: readonly UsageTable[]) => Promise<void>;
  #rows = new Map<string, UsageTable>();
  #waiters: Waiter[] = [];
  #writing: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;

  /** @param write Adds the rows to those of the table, all or none. */
  constructor(write: (rows: readonly UsageTable[]) => Promise<void>) {
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

  /** Writes what is left. */
  async close(): Promise<void> {
    clearTimeout(this.#retry);
    await this.#writing;
    if (this.#rows.size > 0) await this.#writeBatch().catch(() => undefined);
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

  /** Throws: as `write`; then the rows stay. */
  async #writeBatch(): Promise<void> {
    const batch = this.#rows;
    this.#rows = new Map();
    clearTimeout(this.#retry);
    try {
      await this.#write([...batch.values()]);
    } catch (error) {
      for (const row of batch.values()) this.#add(row);
      throw error;
    }
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
    day: new Date(usage.atMs).toISOString().slice(0, 10),
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
