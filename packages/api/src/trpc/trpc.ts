// tRPC for this api: context, metadata, error shape and the procedures that check credentials.

import { initTRPC } from '@trpc/server';
import type { ZodObject } from 'zod';
import type { Principal, Services } from '../ports/services.ts';
import { ApiError, type ApiErrorCode, type PublicError, toPublicError } from './errors.ts';
import { int64Transformer } from './int64-transformer.ts';

/** The Authorization header, parsed. `other` is a scheme nobody here understands. */
export type Credentials =
  | { readonly kind: 'none' }
  | { readonly kind: 'bearer'; readonly token: string }
  | { readonly kind: 'basic'; readonly username: string; readonly password: string }
  | { readonly kind: 'other'; readonly scheme: string };

/** What a transport knows about one request. */
export interface ApiContext {
  readonly credentials: Credentials;
  /** The client's X-Request-Id, or one made by the transport. */
  readonly requestId: string;
  /** Request headers by lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Fires when the client is gone or the server stops. */
  readonly signal: AbortSignal;
}

/** The context of a procedure that has checked the caller's credentials. */
export interface CallerContext extends ApiContext {
  readonly principal: Principal;
}

/**
 * `errors` is the REST error style: the OpenAI object or a `detail` list. `streams` documents a reply of server-sent
 * events: it names the component that each event is. `fails` are failures of this procedure that others of its style do
 * not have. `bytesProcedure` names a procedure that does the same and takes the body as bytes while they arrive; REST
 * calls that one. `lines` documents a reply of JSON lines.
 */
type OrtlerMeta = {
  readonly auth: 'bearer' | 'basic' | 'none';
  readonly errors: 'openai' | 'detail';
  readonly lines?: boolean;
  readonly bytesProcedure?: string;
  readonly streams?: 'ChatCompletionChunk' | 'CompletionChunk';
  readonly fails?: readonly ApiErrorCode[];
};

/**
 * A REST route and what its document says. The fields are those that the generator reads; its own type for them is not
 * taken, because every typed client would then need the types of all web frameworks that the generator knows.
 */
interface RouteMeta {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: `/${string}`;
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: string[];
  readonly requestHeaders?: ZodObject;
}

/** Metadata of a procedure; `openapi` on it is the only table of REST routes. */
export type ProcedureMeta = OrtlerMeta & { readonly openapi?: RouteMeta };

const t = initTRPC
  .context<ApiContext>()
  .meta<ProcedureMeta>()
  .create({
    // Errors never carry a stack to a client, whatever NODE_ENV says.
    isDev: false,
    transformer: int64Transformer,
    jsonl: { pingMs: 15_000 },
    errorFormatter({ shape, error, ctx, input }) {
      const known: PublicError = toPublicError(error, ctx?.requestId ?? 'unknown', input);
      const { reason, status, message, type, param, faults } = known;
      return {
        ...shape,
        message,
        data: {
          code: shape.data.code,
          httpStatus: status,
          path: shape.data.path,
          requestId: ctx?.requestId ?? null,
          reason,
          type,
          param,
          ...(faults !== undefined && { faults }),
        },
      };
    },
  });

export const router = t.router;
export const middleware = t.middleware;

/** Who the bearer key of a request belongs to. Throws: `unauthorized`, the same for a missing and a wrong key. */
export async function requireBearer(
  services: Pick<Services, 'credentials'>,
  credentials: Credentials,
): Promise<Principal> {
  const principal =
    credentials.kind === 'bearer' ? await services.credentials.verifyBearer(credentials.token) : null;
  if (principal === null) throw new ApiError('unauthorized', 'Unauthorized');
  return principal;
}

/** A procedure for holders of an API key. Throws: as `requireBearer`. */
export function createBearerProcedure(services: Pick<Services, 'credentials'>) {
  return t.procedure.use(async ({ ctx, next }) => {
    const principal = await requireBearer(services, ctx.credentials);
    return next({ ctx: { ...ctx, principal } });
  });
}

/**
 * A procedure for holders of an API key as the password of Basic credentials, with any user name. Internal services that
 * call over tRPC may send the key as a bearer token; REST lets through only the scheme that a route names.
 * Throws: `unauthorized`.
 */
export function createBasicProcedure(services: Pick<Services, 'credentials'>) {
  return t.procedure.use(async ({ ctx, next }) => {
    const key = keyOf(ctx.credentials);
    const principal = key === null ? null : await services.credentials.verifyBearer(key);
    if (principal === null) throw new ApiError('unauthorized', 'Unauthorized');
    return next({ ctx: { ...ctx, principal } });
  });
}

function keyOf(credentials: Credentials): string | null {
  if (credentials.kind === 'basic') return credentials.password;
  return credentials.kind === 'bearer' ? credentials.token : null;
}
