// The log of a server: one JSON object per line on standard error, without keys and without what a query asked for.

import type { FastifyRequest } from 'fastify';
import { type Logger, pino } from 'pino';
import type { Config } from '../config/config.ts';

/** What is kept of the log while it cannot be written, as on a full disk. Further lines are lost. */
const MAX_KEPT_BYTES = 1024 * 1024;

/** Creates the log. */
export function createLogger(level: Config['logLevel']): Logger {
  const redact = ['req.headers.authorization', 'headers.authorization'];
  const destination = pino.destination({ fd: 2, sync: true, maxLength: MAX_KEPT_BYTES });
  // A server outlives its log.
  destination.on('error', () => undefined);
  return pino({ level, redact, serializers: { req: toLoggedRequest } }, destination);
}

// The query is left out, because it may hold personal data; with tRPC it holds the whole input.
function toLoggedRequest({ method, url, host, ip, socket }: FastifyRequest) {
  return {
    method,
    url: url.split('?', 1)[0],
    host,
    remoteAddress: ip,
    remotePort: socket.remotePort,
  };
}
