// Access rules of teams. All stored data belongs to an entity: the first part of `<entity>/<project>`. The entity of a team
// has the team's name. A key of a team has access to that entity only, a key without a team to all entities.

import type { Principal } from './ports/services.ts';
import { ApiError } from './trpc/errors.ts';

/** Project of models whose client named none, and their entity when their key has no team. */
export const DEFAULT_NAMESPACE = 'default';

type Caller = Pick<Principal, 'team'>;

/** Default entity of names that the caller gives without one. */
export function homeEntity({ team }: Caller): string {
  return team ?? DEFAULT_NAMESPACE;
}

/** Whom the use of shared resources is counted for: the team, or the key itself when it has no team. */
export function shareOf({ team, keyId }: Pick<Principal, 'team' | 'keyId'>): string {
  return team === undefined ? `key ${keyId}` : `team ${team}`;
}

/** Whether the caller may read and change the data of an entity. */
export function mayReach({ team }: Caller, entity: string): boolean {
  return team === undefined || team === entity;
}

/** Throws: `forbidden`. Compares names alone, so that the error does not reveal which data exists. */
export function requireEntity(caller: Caller, entity: string): void {
  if (mayReach(caller, entity)) return;
  throw new ApiError('forbidden', `This key belongs to the team ${caller.team}; it may use its entity only.`);
}

/** Like `requireEntity`, for a project written `<entity>/<project>`. */
export function requireProject(caller: Caller, projectId: string): void {
  requireEntity(caller, projectId.split('/', 1)[0]!);
}
