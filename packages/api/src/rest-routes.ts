// The REST routes of a router, read from `meta.openapi` of its procedures. The server's dispatcher and the OpenAPI
// document are both made from this list, so they cannot differ.

import type { AppRouter } from './app-router.ts';
import type { ApiErrorCode } from './trpc/errors.ts';
import type { ProcedureMeta } from './trpc/trpc.ts';

/** One REST route and the procedure behind it. */
export interface RestRoute {
  readonly method: string;
  /** With parameters in braces: `/v1/models/{model_id}`. */
  readonly path: string;
  /** Dotted name of the procedure in the router. */
  readonly procedure: string;
  readonly type: 'query' | 'mutation';
  readonly auth: ProcedureMeta['auth'];
  readonly errors: ProcedureMeta['errors'];
  /** Whether the reply is JSON lines, as they come. */
  readonly lines: boolean;
  /** Whether the whole input is in the path: a request may have no body. */
  readonly isBodyless: boolean;
  /** Fields that take lists: in the query of an address such a parameter may come several times. */
  readonly listFields: readonly string[];
  /** Fields that a request must have. */
  readonly requiredFields: readonly string[];
  /** Dotted name of the procedure that takes this route's body as bytes; null: the body is read whole. */
  readonly bytesProcedure: string | null;
  /** Whether these bytes have the limit of streamed bodies. */
  readonly hasLongBody: boolean;
  /** The component that each event of a streamed reply is; null for routes that never stream. */
  readonly streams: NonNullable<ProcedureMeta['streams']> | null;
  /** Failures of this route besides those of its style, for the document. */
  readonly fails: readonly ApiErrorCode[];
}

interface AnyProcedure {
  readonly _def: {
    readonly type: string;
    readonly meta?: ProcedureMeta;
    readonly inputs?: readonly unknown[];
  };
}

/** All routes, in the order of the router. */
export function listRestRoutes(router: AppRouter): RestRoute[] {
  const procedures = router._def.procedures as unknown as Readonly<Record<string, AnyProcedure>>;
  return Object.entries(procedures).flatMap(([procedure, { _def }]): RestRoute[] => {
    const { meta } = _def;
    if (meta?.openapi === undefined) return [];
    const { method, path } = meta.openapi;
    const type = _def.type === 'query' ? 'query' : 'mutation';
    return [
      {
        method,
        path,
        procedure,
        type,
        auth: meta.auth,
        errors: meta.errors,
        lines: meta.lines ?? false,
        isBodyless: isInPath(path, _def.inputs),
        listFields: fieldsWhere(takes => takes([]), _def.inputs),
        requiredFields: fieldsWhere(takes => !takes(undefined), _def.inputs),
        bytesProcedure: meta.bytesProcedure ?? null,
        hasLongBody: meta.hasLongBody ?? false,
        streams: meta.streams ?? null,
        fails: meta.fails ?? [],
      },
    ];
  });
}

interface AnyInput {
  /** The schemas of an object's fields. */
  readonly shape?: Readonly<Record<string, { safeParse(value: unknown): { readonly success: boolean } }>>;
}

/** Whether every field of the input is a parameter of the path. */
function isInPath(path: string, inputs: readonly unknown[] = []): boolean {
  return inputs.every(input => {
    const { shape = null } = input as AnyInput;
    return shape !== null && Object.keys(shape).every(name => path.includes(`{${name}}`));
  });
}

/** Names of the fields of which `rule` is true. Its argument tells whether the field takes a value. */
function fieldsWhere(
  rule: (takes: (value: unknown) => boolean) => boolean,
  inputs: readonly unknown[] = [],
): string[] {
  return inputs.flatMap(input =>
    Object.entries((input as AnyInput).shape ?? {})
      .filter(([, schema]) => rule(value => schema.safeParse(value).success))
      .map(([name]) => name),
  );
}
