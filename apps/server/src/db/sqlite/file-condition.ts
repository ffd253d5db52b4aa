// What is known of the SQLite file while the server runs: sound, lost, or damaged. A damaged file takes no writes, which could not be
// read again. Callers: `open-sqlite.ts`, and through it /health.

import { stat } from 'node:fs/promises';
import type { DatabaseCondition } from '../database.ts';
import { StorageError } from '../storage-error.ts';
import { checkPages, type PageCheck } from './check-database-file.ts';

/** A file that was found damaged is checked again this much later, in case it was repaired. Unit: milliseconds. */
const RECHECK_MS = 1_000;

export class FileCondition {
  readonly #file: string;
  /** What is wrong, in SQLite's words. */
  #damage: string | undefined;
  #check: PageCheck | undefined;
  #checkedAtMs = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** Checks all pages. Resolves with what is wrong, or undefined: nothing, or the check takes longer than `limitMs` and goes on. */
  async checkPages(limitMs: number): Promise<string | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>(resolve => {
      timer = setTimeout(resolve, limitMs);
    });
    await Promise.race([this.#recheck(), late]);
    clearTimeout(timer);
    return this.#damage;
  }

  /** A statement met a fault. */
  readonly noteFault = ({ fault, cause }: StorageError): void => {
    if (fault === 'corrupt') this.#damage ??= cause instanceof Error ? cause.message : 'damaged';
  };

  /** Throws: `StorageError` while the file is damaged. */
  readonly refuseWrites = (): void => {
    if (this.#damage !== undefined) throw new StorageError('corrupt', new Error(this.#damage));
  };

  async read(): Promise<DatabaseCondition> {
    const stats = await stat(this.#file).catch(() => undefined);
    if (stats === undefined || stats.size === 0) return 'lost';
    if (this.#damage === undefined) return 'ready';
    if (performance.now() - this.#checkedAtMs > RECHECK_MS) void this.#recheck();
    return 'corrupt';
  }

  close(): void {
    this.#check?.stop();
  }

  async #recheck(): Promise<void> {
    if (this.#check !== undefined) return;
    this.#check = checkPages(this.#file);
    const found = await this.#check.result;
    this.#check = undefined;
    this.#checkedAtMs = performance.now();
    if (found !== undefined) this.#damage = found ?? undefined;
  }
}
