// Opens a span for each request of the HTTP application.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RequestSpan, Tracing } from './tracing.ts';

/** The spans of requests that are traced. Absent tracing gives none. */
export type RequestSpans = Pick<WeakMap<FastifyRequest, RequestSpan>, 'get'>;

/** Opens a span for each request, and enters it again where a body that was read has left it. */
export function traceRequests(
  app: FastifyInstance,
  tracing: Pick<Tracing, 'startRequest'> | undefined,
): RequestSpans {
  const spans = new WeakMap<FastifyRequest, RequestSpan>();
  if (tracing === undefined) return spans;
  app.addHook('onRequest', (request, _reply, done) => {
    const { headers } = request.raw;
    const { traceparent } = headers;
    const span = tracing.startRequest({
      method: request.method,
      traceparent: typeof traceparent === 'string' ? traceparent : undefined,
    });
    spans.set(request, span);
    // What is passed on to other servers has this span as its parent.
    headers.traceparent = span.traceparent;
    if (!span.isContinued) delete headers.tracestate;
    span.run(done);
  });
  app.addHook('preHandler', (request, _reply, done) => spans.get(request)!.run(done));
  return spans;
}
