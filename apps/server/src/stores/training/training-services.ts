// Creates the training services of one server from its database, spool folder and checkpoint folder.

import { join } from 'node:path';
import type { TrainingServices } from '@ortler/api';
import type { Database } from '../../db/database.ts';
import { createCheckpointStore } from './checkpoints.ts';
import { LogReader } from './log-reader.ts';
import { createTrainingModelStore } from './models.ts';
import { createTrajectoryStore } from './trajectories.ts';
import { createWeightsFolders } from './weights-folders.ts';

export interface TrainingServicesOptions {
  readonly dataDir: string;
  /** Absent: `checkpoints` in the data folder. */
  readonly checkpointDir: string | undefined;
  /** Most checkpoints of a model, and of all models of a team. Default: no limit. */
  readonly maxCheckpointsPerModel?: number;
  readonly maxCheckpointsPerTeam?: number;
  /** Unit: milliseconds since 1970. */
  readonly now: () => number;
}

export interface OpenTrainingServices extends TrainingServices {
  /** Leaves the database open. */
  close(): Promise<void>;
}

export function createTrainingServices(
  database: Database,
  {
    dataDir,
    checkpointDir,
    maxCheckpointsPerModel: perModel = Number.POSITIVE_INFINITY,
    maxCheckpointsPerTeam: perTeam = Number.POSITIVE_INFINITY,
    now,
  }: TrainingServicesOptions,
): OpenTrainingServices {
  const logReader = new LogReader(join(dataDir, 'spool'));
  return {
    models: createTrainingModelStore(database, now),
    checkpoints: createCheckpointStore(database, now, { perModel, perTeam }),
    trajectories: createTrajectoryStore(database, { logReader, now }),
    weights: createWeightsFolders(checkpointDir ?? join(dataDir, 'checkpoints')),
    close: () => logReader.close(),
  };
}
