// Resolves the model of a path: by id, or by name with escaped slashes.

import { isStorableText } from '@ortler/schemas';
import type { Principal, Services } from '../ports/services.ts';
import type { TrainingModel } from '../ports/training-services.ts';
import { homeEntity, mayReach } from '../team.ts';
import { ApiError } from '../trpc/errors.ts';
import { parseModelReference } from './model-reference.ts';

const SHOWN_LENGTH = 200;

/** Throws: `not_found`, with the same message for an unknown model and one of another team. */
export async function findModel(
  { training }: Pick<Services, 'training'>,
  caller: Principal,
  reference: string,
): Promise<TrainingModel> {
  // No model has such a name, and some databases refuse the query.
  if (!isStorableText(reference)) throw unknownModel(reference);
  const byId = await training.models.findById(reference);
  if (byId !== null && mayReach(caller, byId.entity)) return byId;
  const name = parseModelReference(reference, homeEntity(caller));
  if (name === null || !mayReach(caller, name.entity)) throw unknownModel(reference);
  const byName = await training.models.findByName(name);
  if (byName === null) throw unknownModel(reference);
  return byName;
}

/** The error of a request for an unknown or deleted model. */
export function unknownModel(reference: string): ApiError {
  return new ApiError('not_found', `There is no model ${reference.slice(0, SHOWN_LENGTH)}.`);
}
