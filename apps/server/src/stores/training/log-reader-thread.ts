// Entry module of the thread that reads large bodies of log calls.

import type { ReadTrajectoryLog } from '@ortler/api';
import { lowerThreadPriority, serveStreams } from '@ortler/worker';
import { readIntoSpool } from './read-into-spool.ts';
import type { SpoolContents } from './trajectory-spool.ts';

export interface LogTask {
  readonly spoolDir: string;
  /** Unit: milliseconds since 1970. */
  readonly receivedAtMs: number;
}

/** A log on its way to the thread of its store. */
export interface MovedLog {
  readonly log: ReadTrajectoryLog;
  readonly spool: SpoolContents;
}

lowerThreadPriority();
serveStreams<LogTask>(async ({ spoolDir, receivedAtMs }, body, signal) => {
  const { spool, ...log } = await readIntoSpool(spoolDir, body, { receivedAtMs, signal });
  try {
    const { contents, transfer } = await spool.move();
    return { result: { log, spool: contents } satisfies MovedLog, transfer };
  } finally {
    await spool.dispose();
  }
});
