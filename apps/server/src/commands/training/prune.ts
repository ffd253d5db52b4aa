// `ortler trajectories prune` and `ortler checkpoints prune`: delete by a retention rule, in the configured database. They
// may run beside a server.

import { parseModelReference, type TrainingModel, type TrainingModelStore } from '@ortler/api';
import type { Config } from '../../config/config.ts';
import { createCheckpointStore } from '../../stores/training/checkpoints.ts';
import { createTrainingModelStore } from '../../stores/training/models.ts';
import { pruneCheckpoints, pruneTrajectories } from '../../stores/training/retention.ts';
import type { Terminal } from '../terminal.ts';
import { UserError } from '../user-error.ts';
import { requireDatabase, withDatabase } from '../with-database.ts';

export type PruneSubject = 'trajectories' | 'checkpoints';

export interface PruneFlags {
  readonly model: string;
  readonly keepNewest: number;
  readonly keepBest: number;
  readonly metric: string;
  readonly dryRun: boolean;
  readonly split?: string;
  readonly [setting: string]: unknown;
}

/** Prints how many were deleted and kept. Throws: `UserError` for an unknown model, a rule that keeps nothing, and where there is no database. */
export async function prune(
  subject: PruneSubject,
  { model: reference, keepNewest, keepBest, metric, dryRun, split }: PruneFlags,
  config: Config,
  terminal: Terminal,
): Promise<void> {
  if (keepNewest + keepBest === 0)
    throw new UserError(
      'Give --keep-newest, --keep-best or both, at least 1. To delete a whole model, call the API.',
    );
  requireDatabase(config);
  await withDatabase(config, async database => {
    const { id } = await findModel(createTrainingModelStore(database, Date.now), reference);
    const rule = { newestCount: keepNewest, bestCount: keepBest, metric, isDryRun: dryRun };
    const { kept, deleted } =
      subject === 'trajectories'
        ? await pruneTrajectories(database, id, { ...rule, split: split ?? null })
        : await pruneCheckpoints(createCheckpointStore(database, Date.now), id, rule);
    terminal.out(`${dryRun ? 'would delete' : 'deleted'} ${deleted} ${subject}, kept ${kept}\n`);
  });
}

async function findModel(models: TrainingModelStore, reference: string): Promise<TrainingModel> {
  const name = parseModelReference(reference);
  const found = (await models.findById(reference)) ?? (name === null ? null : await models.findByName(name));
  if (found === null) throw new UserError(`There is no model ${reference}.`);
  return found;
}
