// Whether an open SQLite file is still the one at its path. A file that was removed or replaced takes writes as before, and they are
// lost with it. Callers: the SQLite threads, before statements that others rely on.

import { type BigIntStats, statSync } from 'node:fs';
import { DatabaseLostError } from '../database-errors.ts';

interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

export class FileIdentity {
  readonly #file: string;
  readonly #identity: Identity;
  #log: Identity | undefined;

  /** Throws: `DatabaseLostError` when the file does not exist, or is empty. */
  constructor(file: string) {
    this.#file = file;
    const stats = read(file);
    if (stats === undefined || stats.size === 0n)
      throw new DatabaseLostError(`${file} ${stats === undefined ? 'does not exist' : 'is empty'}.`);
    this.#identity = stats;
  }

  /** Costs about 5 microseconds. Throws: `DatabaseLostError`. */
  check(): void {
    if (!isSame(this.#identity, read(this.#file)))
      throw new DatabaseLostError(`${this.#file} was removed or replaced.`);
  }

  /** As `check`, for a connection that writes: also the write-ahead log, once it exists. */
  checkLog(): void {
    this.check();
    const log = read(`${this.#file}-wal`);
    if (this.#log === undefined) this.#log = log;
    else if (!isSame(this.#log, log))
      throw new DatabaseLostError(`${this.#file}-wal was removed or replaced.`);
  }
}

function read(file: string): BigIntStats | undefined {
  return statSync(file, { bigint: true, throwIfNoEntry: false });
}

function isSame(first: Identity, second: Identity | undefined): boolean {
  return second !== undefined && first.dev === second.dev && first.ino === second.ino;
}
