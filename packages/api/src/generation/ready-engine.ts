// From the `model` of a request to an engine that can answer it. Every endpoint that runs a model starts here.

import type { CheckpointModel, EngineLease, Principal, ServedModel, Services } from '../ports/services.ts';
import { findUntrainedModel, listUntrainedModels } from '../training/untrained-model.ts';
import { ApiError } from '../trpc/errors.ts';
import { needsEngine } from './upstream-of.ts';

/** Unit: milliseconds. A loading model is usually there after this. */
const LOADING_RETRY_MS = 2_000;
/** Entity, project and name have 200 at most, and there are a prefix and a step. Unit: UTF-16 code units. */
const LONGEST_TRAINED_ID = 1_000;
/** A name that no model has may be of any length. */
const SHOWN_ID_LENGTH = 200;

type ModelServices = Pick<Services, 'models' | 'checkpointModels' | 'training'>;

/**
 * The model of that id: one of the operator's, a checkpoint, or the base of a model in training that has no weights yet. The
 * default one when none is named.
 *
 * Throws: `model_not_found`, in the same words for a model that is not there and one of another team.
 */
export async function findModel(
  services: ModelServices,
  caller: Principal,
  id: string | null | undefined,
): Promise<ServedModel> {
  const wanted = id || services.models.defaultModelId;
  const model = services.models.find(wanted) ?? (await findTrainedModel(services, caller, wanted));
  if (model !== undefined) return model;
  const known = services.models.list().map(entry => entry.id);
  throw new ApiError(
    'model_not_found',
    `The model ${wanted.slice(0, SHOWN_ID_LENGTH)} does not exist. Known: ${known.join(', ')}.`,
    { param: 'model' },
  );
}

async function findTrainedModel(
  services: ModelServices,
  caller: Principal,
  id: string,
): Promise<ServedModel | undefined> {
  if (id.length > LONGEST_TRAINED_ID) return undefined;
  return (
    (await services.checkpointModels.find(id, caller)) ??
    (await findUntrainedModel(services, caller, id, openEngine))
  );
}

/** Every model that the caller may name, the operator's first. */
export async function listModels(
  services: ModelServices,
  caller: Principal,
): Promise<readonly ServedModel[]> {
  const own = services.models.list();
  const taken = new Set(own.map(({ id }) => id));
  const checkpoints = await Promise.all<readonly CheckpointModel[]>([
    services.checkpointModels.list(caller),
    listUntrainedModels(services, caller, openEngine),
  ]);
  return [...own, ...checkpoints.flat().filter(({ id }) => !taken.has(id))];
}

/** The model id in answers: the model's own, or that of the checkpoint that answers. */
export function servedId(model: ServedModel): string {
  return 'open' in model ? model.servedId : model.id;
}

/**
 * The engine of a model; `release` of the answer must be called when the request has ended. A checkpoint is loaded
 * first, a model of the operator is not waited for.
 *
 * Throws: `model_unavailable` while it loads and when it could not be loaded, `invalid_parameter` where other servers answer.
 */
export async function openEngine(model: ServedModel, signal: AbortSignal): Promise<EngineLease> {
  if ('open' in model) return model.open(signal);
  const { id, status } = model;
  if (status.kind === 'ready') return { engine: status.engine, release: () => undefined };
  if (status.kind === 'upstream') throw needsEngine(id);
  if (status.kind === 'failed')
    throw new ApiError('model_unavailable', `The model ${id} could not be loaded.`, { param: 'model' });
  if (status.kind === 'restarting') {
    const { detail, retryAfterMs } = status;
    throw new ApiError('model_unavailable', `The model ${id} is not ready: ${detail}.`, {
      param: 'model',
      retryAfterMs,
    });
  }
  throw new ApiError('model_unavailable', `The model ${id} is still loading: ${status.detail}.`, {
    param: 'model',
    retryAfterMs: LOADING_RETRY_MS,
  });
}

/** Runs `use` with the engine of a model and gives it back afterwards. Throws: as `openEngine` and `use`. */
export async function withEngine<Result>(
  model: ServedModel,
  signal: AbortSignal,
  use: (engine: EngineLease['engine']) => Promise<Result>,
): Promise<Result> {
  const { engine, release } = await openEngine(model, signal);
  try {
    return await use(engine);
  } finally {
    release();
  }
}
