// Entry module of the thread that reads large bodies of log calls.

import type { ReadTrajectoryLog } from '@ortler/api';
import { readTrajectoryLog } from '@ortler/api/trajectory-log';
import { lowerThreadPriority, serveStreams } from '@ortler/worker';
import { openTrajectorySpool, type SpoolContents } from './trajectory-spool.ts';

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
  const spool = openTrajectorySpool(spoolDir);
  try {
    const log = await readTrajectoryLog(body, spool, { receivedAtMs, signal });
    const { contents, transfer } = await spool.move();
    return { result: { log, spool: contents } satisfies MovedLog, transfer };
  } finally {
    await spool.dispose();
  }
});
