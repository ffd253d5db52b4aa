// A registered model before its first weights: its base model answers, which is its state at step 0. Trainers ask it for the
// trajectories that they train the first checkpoint with.

import { isStorableText } from '@ortler/schemas';
import type { CatalogModel, CheckpointModel, Principal, Services } from '../ports/services.ts';
import type { TrainingModel } from '../ports/training-services.ts';
import { homeEntity, mayReach } from '../team.ts';
import { ApiError } from '../trpc/errors.ts';
import { parseCheckpointReference, parseModelReference, toModelReference } from './model-reference.ts';

type UntrainedServices = Pick<Services, 'models' | 'training'>;
/** Opens the base model. */
type Open = (base: CatalogModel, signal: AbortSignal) => ReturnType<CheckpointModel['open']>;

/** The registered models without weights whose base model is served. */
export async function listUntrainedModels(
  { models, training }: UntrainedServices,
  { team }: Principal,
  open: Open,
): Promise<readonly CheckpointModel[]> {
  return (await training.models.listUntrained(team ?? null)).flatMap(model => {
    const base = models.find(model.baseModel);
    return base === undefined ? [] : [toBaseAlias(toModelReference(model), model, base, open)];
  });
}

/**
 * The base model in the place of a registered model, by its name alone or with `:step0`. Undefined: there is no model of
 * this name. Call it when no checkpoint has this id.
 *
 * Throws: `model_not_found` for a registered model that nothing here can answer for.
 */
export async function findUntrainedModel(
  { models, training }: UntrainedServices,
  caller: Principal,
  id: string,
  open: Open,
): Promise<CheckpointModel | undefined> {
  // No model has such a name, and some databases refuse the query.
  if (!isStorableText(id)) return undefined;
  const { modelName, step } = parseCheckpointReference(id);
  const name = parseModelReference(modelName, homeEntity(caller));
  if (name === null || !mayReach(caller, name.entity)) return undefined;
  const model = await training.models.findByName(name);
  if (model === null) return undefined;
  const hasWeights = (await training.checkpoints.findServable(name, null)) !== null;
  if (step !== null && (step > 0 || hasWeights))
    throw unanswered(`The model ${toModelReference(model)} has no checkpoint of step ${step} with weights.`);
  const base = models.find(model.baseModel);
  if (base === undefined)
    throw unanswered(
      `The model ${toModelReference(model)} has no checkpoint with weights yet, and its base model ${model.baseModel} is not served here.`,
    );
  return toBaseAlias(id, model, base, open);
}

function toBaseAlias(id: string, model: TrainingModel, base: CatalogModel, open: Open): CheckpointModel {
  return {
    id,
    servedId: base.id,
    createdAtSeconds: Math.floor(model.createdAtMs / 1000),
    ownedBy: base.ownedBy,
    root: base.id,
    open: signal => open(base, signal),
    ...(base.status.kind === 'upstream' && { upstream: base.status.upstream }),
  };
}

function unanswered(message: string): ApiError {
  return new ApiError('model_not_found', message, { param: 'model' });
}
