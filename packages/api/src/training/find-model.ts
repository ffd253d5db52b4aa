// The model that a path names: by its id, or by its name with escaped slashes.

import { ApiError } from '../errors.ts';
import type { Services } from '../services.ts';
import { parseModelReference } from './model-reference.ts';
import type { TrainingModel } from './training-services.ts';

const SHOWN_LENGTH = 200;

/** Throws: `not_found`. */
export async function findModel(
  { training }: Pick<Services, 'training'>,
  reference: string,
): Promise<TrainingModel> {
  const byId = await training.models.findById(reference);
  if (byId !== null) return byId;
  const name = parseModelReference(reference);
  const byName = name === null ? null : await training.models.findByName(name);
  if (byName !== null) return byName;
  throw unknownModel(reference);
}

/** The failure of a request that names a model nobody created, or one that is gone. */
export function unknownModel(reference: string): ApiError {
  return new ApiError('not_found', `There is no model ${reference.slice(0, SHOWN_LENGTH)}.`);
}
