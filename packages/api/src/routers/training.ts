// The training room as one router: models, their checkpoints, their trajectories.

import type { Services } from '../ports/services.ts';
import { router } from '../trpc/trpc.ts';
import { createCheckpointProcedures } from './training-checkpoints.ts';
import { createTrainingModelProcedures } from './training-models.ts';
import { createTrajectoryProcedures } from './training-trajectories.ts';

/** Router of everything under /v1/preview/models. */
export function createTrainingRouter(services: Services) {
  return router({
    models: createTrainingModelProcedures(services),
    checkpoints: createCheckpointProcedures(services),
    trajectories: createTrajectoryProcedures(services),
  });
}
