// The body of a request as it goes to an upstream server: as the caller sent it, but for what this server decides.

import { hash } from 'node:crypto';
import { stringifyLosslessJson } from '@ortler/json';
import type { Principal, Services } from '../ports/services.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export interface UpstreamBody {
  /** As the caller sent it; checked by the schema of its endpoint. */
  readonly given: JsonObject;
  /** Its name at the servers. */
  readonly model: string;
  readonly stream: boolean;
  /** Whether tools that the request has may be called. */
  readonly toolCalling: boolean;
  readonly cacheSalt: string | undefined;
}

/** JSON. Usage is always asked for, because it is counted. */
export function toUpstreamBody({ given, model, stream, toolCalling, cacheSalt }: UpstreamBody): string {
  return stringifyLosslessJson({
    ...given,
    model,
    stream,
    ...(stream && { stream_options: { ...(given.stream_options as object | null), include_usage: true } }),
    ...(!toolCalling && given.tools != null && { tool_choice: 'none' }),
    ...(cacheSalt !== undefined && { cache_salt: cacheSalt }),
  });
}

/**
 * The salt of a caller's cached prompts. To an upstream server all callers are one, so the salt says whose they are: the team's,
 * together with the caller's own. Undefined: the servers may share what they cache, or the caller alone decides.
 */
export function toCacheSalt(
  { team }: Principal,
  salt: string | null | undefined,
  scope: Services['promptCacheScope'],
): string | undefined {
  if (scope === 'server' || team === undefined) return salt ?? undefined;
  const owner = JSON.stringify(salt == null ? [team] : [team, salt]);
  return hash('sha256', owner, 'base64url');
}
