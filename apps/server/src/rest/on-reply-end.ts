// Tells of each request how its reply ended, once: sent whole, or cut off because its client left. Fastify's `onResponse` leaves
// out those that were cut off.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Status of a request whose client left before it had one. Source: nginx. */
const CLIENT_CLOSED_REQUEST = 499;

export type ReplyEndListener = (
  request: FastifyRequest,
  reply: FastifyReply,
  /** What the client was told; 499 where it left before that. */
  status: number,
) => void;

/** Calls the listener for every request that the application routes. */
export function onReplyEnd(app: FastifyInstance, listener: ReplyEndListener): void {
  const told = new WeakSet<FastifyRequest>();
  const tell: ReplyEndListener = (request, reply, status) => {
    if (told.has(request)) return;
    told.add(request);
    listener(request, reply, status);
  };
  app.addHook('onResponse', (request, reply, done) => {
    tell(request, reply, reply.raw.statusCode);
    done();
  });
  app.addHook('onRequest', (request, reply, done) => {
    const { raw } = reply;
    raw.once('close', () => {
      if (raw.writableFinished) return;
      const status = raw.headersSent ? raw.statusCode : CLIENT_CLOSED_REQUEST;
      request.log.info({ res: { statusCode: status }, responseTime: reply.elapsedTime }, 'client left');
      tell(request, reply, status);
    });
    done();
  });
}
