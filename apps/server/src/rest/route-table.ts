// The table of REST routes, read from `meta.openapi` of the api's procedures, which is the only place where paths are
// written.

import { type AppRouter, listRestRoutes, type RestRoute } from '@ortler/api';

export interface FoundRoute {
  readonly kind: 'found';
  readonly route: RestRoute;
  /** Parameters of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
}

export type RouteMatch =
  | FoundRoute
  | { readonly kind: 'wrong-method'; readonly allowed: readonly string[] }
  | { readonly kind: 'unknown' };

export interface RouteTable {
  readonly routes: readonly RestRoute[];
  /** @param path Still percent-encoded, without the query. Throws: `URIError` for a broken escape. */
  match(method: string, path: string): RouteMatch;
  /** Template of the route that answers, such as `/v1/models/{model_id}`; undefined where none does. */
  nameOf(method: string, url: string): string | undefined;
  /** Error style of the routes with the longest common prefix, for paths without a route. */
  errorsNear(path: string): RestRoute['errors'];
}

/** A segment that is a parameter: `{model_id}`. */
const PARAMETER = /^\{(.+)\}$/;

/** Reads all routes of the router. */
export function createRouteTable(router: AppRouter): RouteTable {
  const compiled = listRestRoutes(router).map(route => ({ route, segments: route.path.split('/') }));

  function match(method: string, path: string): RouteMatch {
    // A trailing slash is served directly, without a redirect.
    const trimmed = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
    const given = trimmed.split('/');
    // A route with as many segments wins over one whose last parameter takes the rest, even if only the other answers
    // the method.
    const isSameLength = (candidate: (typeof compiled)[number]) => candidate.segments.length === given.length;
    const nearer = matchAmong(compiled.filter(isSameLength), method, given);
    return nearer.kind === 'unknown'
      ? matchAmong(
          compiled.filter(candidate => !isSameLength(candidate)),
          method,
          given,
        )
      : nearer;
  }

  function matchAmong(candidates: typeof compiled, method: string, given: readonly string[]): RouteMatch {
    const allowed: string[] = [];
    for (const { route, segments } of candidates) {
      const params = matchSegments(segments, given);
      if (params === undefined) continue;
      if (route.method === method || (route.method === 'GET' && method === 'HEAD'))
        return { kind: 'found', route, params };
      allowed.push(route.method);
    }
    return allowed.length > 0 ? { kind: 'wrong-method', allowed } : { kind: 'unknown' };
  }

  function nameOf(method: string, url: string): string | undefined {
    try {
      const found = match(method, url.split('?', 1)[0]!);
      return found.kind === 'found' ? found.route.path : undefined;
    } catch {
      // A broken percent escape matches no route.
      return undefined;
    }
  }

  function errorsNear(path: string): RestRoute['errors'] {
    const given = path.split('/');
    let nearest: RestRoute['errors'] = 'openai';
    // The empty segment before the first slash, and the version, belong to routes of every style.
    let longest = given[1] === 'v1' ? 2 : 1;
    for (const { route, segments } of compiled) {
      let length = 0;
      while (length < segments.length && segments[length] === given[length]) length++;
      if (length <= longest) continue;
      longest = length;
      nearest = route.errors;
    }
    return nearest;
  }

  return { routes: compiled.map(({ route }) => route), match, nameOf, errorsNear };
}

/**
 * Parameters of a path that matches the pattern, else undefined. Values are decoded after the split, so `org%2Fname` is
 * one value. A parameter at the end takes all remaining segments, so ids with slashes work unescaped too.
 */
export function matchSegments(
  segments: readonly string[],
  given: readonly string[],
): Record<string, string> | undefined {
  const takesRest = PARAMETER.test(segments.at(-1)!);
  if (takesRest ? given.length < segments.length : given.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const [, name] = PARAMETER.exec(segment) ?? [];
    if (name === undefined) {
      // `%61` and `a` are the same letter of a path; an escaped slash does not separate segments.
      if (segment !== given[index] && segment !== decodeURIComponent(given[index]!)) return undefined;
    } else {
      const isLast = index === segments.length - 1;
      const values = isLast ? given.slice(index) : [given[index]!];
      if (values.includes('')) return undefined;
      params[name] = values.map(decodeURIComponent).join('/');
    }
  }
  return params;
}
