// The router of the training endpoints: models, checkpoints, trajectories.

import type { Services } from '../ports/services.ts';
import { router } from '../trpc/trpc.ts';
import { createCheckpointProcedures } from './training-checkpoints.ts';
import { createTrainingModelProcedures } from './training-models.ts';
import { createTrajectoryProcedures } from './training-trajectories.ts';

/** Creates the router of /v1/preview/models. */
export function createTrainingRouter(services: Services) {
  return router({
    models: createTrainingModelProcedures(services),
    checkpoints: createCheckpointProcedures(services),
    trajectories: createTrajectoryProcedures(services),
  });
}
