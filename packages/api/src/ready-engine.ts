// From the `model` of a request to an engine that can answer it. Every endpoint that runs a model starts here.

import type { Engine } from '@ortler/engine';
import { ApiError } from './errors.ts';
import type { CatalogModel, Services } from './services.ts';

/** Unit: milliseconds. A loading model is usually there after this. */
const LOADING_RETRY_MS = 2_000;
/** A name that no model has may be of any length. */
const SHOWN_ID_LENGTH = 200;

/** The model of that id; the default one when none is named. Throws: `model_not_found`. */
export function findModel(services: Pick<Services, 'models'>, id: string | null | undefined): CatalogModel {
  const wanted = id || services.models.defaultModelId;
  const model = services.models.find(wanted);
  if (model !== undefined) return model;
  const known = services.models.list().map(entry => entry.id);
  throw new ApiError(
    'model_not_found',
    `The model ${wanted.slice(0, SHOWN_ID_LENGTH)} does not exist. Known: ${known.join(', ')}.`,
    { param: 'model' },
  );
}

/** The engine of a model. Throws: `model_unavailable` while it loads and when it could not be loaded. */
export function readyEngine({ id, status }: CatalogModel): Engine {
  if (status.kind === 'ready') return status.engine;
  if (status.kind === 'failed')
    throw new ApiError('model_unavailable', `The model ${id} could not be loaded.`, { param: 'model' });
  throw new ApiError('model_unavailable', `The model ${id} is still loading: ${status.detail}.`, {
    param: 'model',
    retryAfterMs: LOADING_RETRY_MS,
  });
}
