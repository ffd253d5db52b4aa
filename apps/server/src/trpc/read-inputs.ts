// The inputs of a tRPC request with a body, which is read like that of a REST request: in slices, and with all digits of its
// integers. tRPC itself would parse it in one turn of the event loop.

import { Readable } from 'node:stream';
import { ApiError, tooDeep, untagInTurns } from '@ortler/api';
import { JsonSyntaxError } from '@ortler/json';
import type { FastifyRequest, RequestPayload } from 'fastify';
import { discardBody, hasBody, isJson, readJsonBody } from '../rest/read-body.ts';

/** Levels that a body may have: those of an input, the object of a batch around it, and an integer in the form of the transformer. */
const MAX_DEPTH = 130;

/** The input of one call, by its place. Undefined: there is none. */
export type ReadInput = (batchIndex: number) => Promise<unknown>;

/** Null: the request has no JSON body. Throws: as `readJsonBody`; `malformed_request` for a batch that is no object. */
export async function readInputs(request: FastifyRequest, signal: AbortSignal): Promise<ReadInput | null> {
  const { raw, query } = request;
  if (request.method === 'GET' || !hasBody(raw) || !isJson(request.headers['content-type'])) return null;
  const limitBytes = request.routeOptions.bodyLimit;
  let body: unknown;
  try {
    body = await readJsonBody(raw, { limitBytes, maxDepth: MAX_DEPTH, signal });
  } catch (error) {
    discardBody(raw);
    if (!isTooDeep(error)) throw error;
    // The procedure refuses it in the form of its errors.
    return () => Promise.reject(tooDeep());
  }
  if ((query as Readonly<Record<string, unknown>>).batch !== '1')
    return async index => (index === 0 ? untagInTurns(body) : undefined);
  if (typeof body !== 'object' || body === null)
    throw new ApiError('malformed_request', 'The body of a batch must be a JSON object of inputs.');
  return async index => (Object.hasOwn(body, index) ? untagInTurns(body[index as never]) : undefined);
}

function isTooDeep(error: unknown): boolean {
  return error instanceof ApiError && error.cause instanceof JsonSyntaxError && error.cause.limit === 'depth';
}

/** In place of a body that has been read. */
export function emptyPayload({ headers }: FastifyRequest): RequestPayload {
  return Object.assign(Readable.from([]), { receivedEncodedLength: Number(headers['content-length'] ?? 0) });
}
