// The REST routes, read from `meta.openapi` of the api's procedures: the only place where a path is written.

import type { AppRouter, ProcedureMeta } from '@ortler/api';

/** One REST route and the procedure behind it. */
export interface Route {
  readonly method: string;
  readonly path: string;
  /** Dotted name of the procedure in the router. */
  readonly procedure: string;
  readonly type: 'query' | 'mutation';
  readonly errors: ProcedureMeta['errors'];
}

export type RouteMatch =
  | { readonly kind: 'found'; readonly route: Route; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: 'wrong-method'; readonly allowed: readonly string[] }
  | { readonly kind: 'unknown' };

export interface RouteTable {
  readonly routes: readonly Route[];
  /** @param path Still percent-encoded, without the query. Throws: `URIError` for a broken escape. */
  match(method: string, path: string): RouteMatch;
}

/** Reads all routes of the router. */
export function createRouteTable(router: AppRouter): RouteTable {
  const procedures = Object.entries(router._def.procedures) as [
    string,
    { readonly _def: { readonly meta?: ProcedureMeta; readonly type: string } },
  ][];
  const compiled = procedures.flatMap(([procedure, { _def }]) => {
    if (_def.meta?.openapi === undefined) return [];
    const { method, path } = _def.meta.openapi;
    const type = _def.type === 'query' ? ('query' as const) : ('mutation' as const);
    const route: Route = { method, path, procedure, type, errors: _def.meta.errors };
    return [{ route, segments: path.split('/') }];
  });

  function match(method: string, path: string): RouteMatch {
    // A trailing slash is served directly, without a redirect.
    const trimmed = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
    const given = trimmed.split('/');
    const allowed: string[] = [];
    for (const { route, segments } of compiled) {
      const params = matchSegments(segments, given);
      if (params === undefined) continue;
      if (route.method === method || (route.method === 'GET' && method === 'HEAD'))
        return { kind: 'found', route, params };
      allowed.push(route.method);
    }
    return allowed.length > 0 ? { kind: 'wrong-method', allowed } : { kind: 'unknown' };
  }

  return { routes: compiled.map(({ route }) => route), match };
}

// A parameter is one segment and is decoded after the split, so `org%2Fname` is one value.
function matchSegments(
  segments: readonly string[],
  given: readonly string[],
): Record<string, string> | undefined {
  if (segments.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const [, name] = /^\{(.+)\}$/.exec(segment) ?? [];
    if (name === undefined) {
      if (segment !== given[index]) return undefined;
    } else {
      if (given[index] === '') return undefined;
      params[name] = decodeURIComponent(given[index]!);
    }
  }
  return params;
}
