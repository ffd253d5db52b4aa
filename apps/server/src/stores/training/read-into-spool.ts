// Reads the body of a log call into a spool, in whichever thread.

import type { SpooledTrajectoryLog, TrajectoryLogOptions } from '@ortler/api';
import { readTrajectoryLog } from '@ortler/api/trajectory-log';
import { type MovableSpool, openTrajectorySpool } from './trajectory-spool.ts';

export interface LogInSpool extends SpooledTrajectoryLog {
  readonly spool: MovableSpool;
}

/** The caller disposes of the spool. Throws: as `readTrajectoryLog`. */
export async function readIntoSpool(
  spoolDir: string,
  body: AsyncIterable<Uint8Array>,
  options: TrajectoryLogOptions,
): Promise<LogInSpool> {
  const spool = openTrajectorySpool(spoolDir);
  try {
    return { ...(await readTrajectoryLog(body, spool, options)), spool };
  } catch (error) {
    await spool.dispose();
    throw error;
  }
}
