// Builds the context of procedures from an HTTP request, the same for REST and tRPC.

import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { type ApiContext, ApiError, JsonText } from '@ortler/api';
import { parseCredentials } from './credentials.ts';

/** Longest X-Request-Id accepted from a client. */
const MAX_REQUEST_ID_LENGTH = 200;

export interface RequestContext {
  readonly context: ApiContext;
  /** Results that were handed on as text; a transport that prints them with others puts them in their places. */
  readonly texts: readonly JsonText[];
  /** Detaches the context from the server's stop signal, like the end of the reply does. Idempotent. */
  readonly release: () => void;
}

/** The client's X-Request-Id, or a new id. Reply, log and context all use this one. */
export function chooseRequestId({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const id = headers['x-request-id'];
  return isRequestId(id) ? id : randomUUID().replaceAll('-', '');
}

/** Builds the context. Its signal fires when the client disconnects before the reply is done, or the server stops. */
export function createRequestContext(
  request: IncomingMessage,
  response: ServerResponse,
  { requestId, stopping }: { readonly requestId: string; readonly stopping: AbortSignal },
): RequestContext {
  const controller = new AbortController();
  const stop = () => controller.abort(stopping.reason);
  if (stopping.aborted) stop();
  else stopping.addEventListener('abort', stop, { once: true });
  const release = () => stopping.removeEventListener('abort', stop);
  const endListeners: (() => void)[] = [];
  const onClose = () => {
    release();
    for (const listener of endListeners.splice(0)) listener();
    if (!response.writableFinished) controller.abort(new ApiError('aborted', 'The client left.'));
  };
  if (response.destroyed) onClose();
  else response.once('close', onClose);
  const texts: JsonText[] = [];
  const headers = flattenHeaders(request.headers);
  const context: ApiContext = {
    credentials: parseCredentials(headers.authorization),
    requestId,
    headers,
    signal: controller.signal,
    onReplyEnd: listener => {
      if (response.destroyed || response.closed) listener();
      else endListeners.push(listener);
    },
    setHeader: (name, value) => {
      if (!response.headersSent) response.setHeader(name, value);
    },
    embedJson: parts => {
      const text = new JsonText(parts);
      texts.push(text);
      return text;
    },
  };
  return { context, texts, release };
}

// An id that is empty or too long to repeat is treated as absent, for the reply's id and header alike.
function isRequestId(id: unknown): id is string {
  return typeof id === 'string' && id.length <= MAX_REQUEST_ID_LENGTH && /^[\x20-\x7e]+$/.test(id);
}

function flattenHeaders(headers: IncomingHttpHeaders): Record<string, string | undefined> {
  const flat: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(headers))
    flat[name] = Array.isArray(value) ? value.join(', ') : value;
  if (!isRequestId(flat['x-request-id'])) delete flat['x-request-id'];
  return flat;
}
