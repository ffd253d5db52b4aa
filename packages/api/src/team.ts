// What a key may reach. Everything that is stored belongs to an entity: the first part of `<entity>/<project>`. The entity
// of a team has the team's name; a key of a team reaches that entity only, a key without a team reaches all.

import type { Principal } from './ports/services.ts';
import { ApiError } from './trpc/errors.ts';

/** Project of models whose client named none, and their entity when their key has no team. */
export const DEFAULT_NAMESPACE = 'default';

type Caller = Pick<Principal, 'team'>;

/** Entity of what the caller names without one. */
export function homeEntity({ team }: Caller): string {
  return team ?? DEFAULT_NAMESPACE;
}

/** Whether the caller may see and change what belongs to this entity. */
export function mayReach({ team }: Caller, entity: string): boolean {
  return team === undefined || team === entity;
}

/** Throws: `forbidden`, from the two names alone, so it tells nothing of what is stored. */
export function requireEntity(caller: Caller, entity: string): void {
  if (mayReach(caller, entity)) return;
  throw new ApiError('forbidden', `This key belongs to the team ${caller.team}; it may use its entity only.`);
}

/** As `requireEntity`, for a project written `<entity>/<project>`. */
export function requireProject(caller: Caller, projectId: string): void {
  requireEntity(caller, projectId.split('/', 1)[0]!);
}
