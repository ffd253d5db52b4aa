// Reads the bodies of log calls. Large ones are read in a thread with a heap of its own: the objects of a trajectory are garbage a moment
// later, and their collection would hold up every other request.

import type { SpooledTrajectoryLog, TrajectoryLogOptions } from '@ortler/api';
import { entryModule, StreamWorker } from '@ortler/worker';
import { peekBytes } from '../peek-bytes.ts';
import { rethrow } from '../thread-faults.ts';
import type { LogTask, MovedLog } from './log-reader-thread.ts';
import { readIntoSpool } from './read-into-spool.ts';
import { receiveTrajectorySpool } from './trajectory-spool.ts';

/** A body of less is read sooner than handed over. */
const SMALL_BYTES = 16 * 1024;

export class LogReader {
  readonly #spoolDir: string;
  readonly #thread = new StreamWorker<LogTask, MovedLog>(entryModule('./log-reader-thread', import.meta.url));

  /** @param spoolDir Folder for logs that are too large for memory. */
  constructor(spoolDir: string) {
    this.#spoolDir = spoolDir;
  }

  /** Throws: as `TrajectoryStore.readLog`; `storage_unavailable` when the thread ends, as it does without memory. */
  async read(body: AsyncIterable<Uint8Array>, options: TrajectoryLogOptions): Promise<SpooledTrajectoryLog> {
    const { bytes, isWhole } = await peekBytes(body, SMALL_BYTES);
    if (isWhole) return readIntoSpool(this.#spoolDir, bytes, options);
    const { receivedAtMs, signal } = options;
    const task: LogTask = { spoolDir: this.#spoolDir, receivedAtMs };
    const { log, spool } = await this.#thread.run(task, bytes, signal).catch(rethrow);
    return { ...log, spool: receiveTrajectorySpool(this.#spoolDir, spool) };
  }

  /** Ends the thread with all that it reads. */
  close(): Promise<void> {
    return this.#thread.close();
  }
}
