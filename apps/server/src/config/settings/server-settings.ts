// Settings of the HTTP server: address, keys, CORS, size limits, timeouts and log level. Caller: `../settings.ts`.

import { z } from 'zod';
import { byteSize, MEBIBYTE, oneOf, originList, wholeNumber } from '../setting-values.ts';
import { setting } from './setting.ts';

export const SERVER_SETTINGS = {
  host: setting({
    variable: 'ORTLER_HOST',
    flag: '--host',
    valueName: 'address',
    fallback: '127.0.0.1',
    description: 'Address to listen on; 0.0.0.0 listens on every interface.',
    schema: z.string().min(1, 'must not be empty'),
  }),
  port: setting({
    variable: 'ORTLER_PORT',
    flag: '--port',
    valueName: 'number',
    fallback: '8000',
    description: 'Port to listen on; 0 takes a free one.',
    schema: wholeNumber(0, 65_535),
  }),
  apiKey: setting<string | undefined>({
    variable: 'ORTLER_API_KEY',
    flag: '--api-key',
    valueName: 'key',
    fallback: undefined,
    shownFallback: 'a key made and printed on first start',
    description:
      'An API key that is accepted in addition to the stored ones. Prefer the variable: flags show in process lists.',
    schema: z
      .string()
      .min(1, 'must not be empty')
      .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces'),
    isSecret: true,
  }),
  corsOrigins: setting({
    variable: 'ORTLER_CORS_ORIGINS',
    flag: '--cors-origins',
    valueName: 'origin,...',
    fallback: '*',
    description: 'Origins that CORS allows; * allows all, none allows no cross-origin calls.',
    schema: originList(),
  }),
  bodyLimitBytes: setting({
    variable: 'ORTLER_BODY_LIMIT',
    flag: '--body-limit',
    valueName: 'size',
    fallback: '8mb',
    description: 'Largest request body: bytes, or a number with kb, mb or gb.',
    schema: byteSize(1_024, 1_024 * MEBIBYTE),
  }),
  logBodyLimitBytes: setting({
    variable: 'ORTLER_LOG_BODY_LIMIT',
    flag: '--log-body-limit',
    valueName: 'size',
    fallback: '256mb',
    description:
      'Largest body of a trajectory log call, which is streamed to disk; units as for --body-limit.',
    schema: byteSize(1_024, 1_024 * MEBIBYTE),
  }),
  stalledReaderMs: setting({
    variable: 'ORTLER_STALLED_READER_MS',
    flag: '--stalled-reader-ms',
    valueName: 'milliseconds',
    // The same as `REQUEST_TIMEOUT_MS` of `app.ts`, the longest time a request may take to arrive.
    fallback: '120000',
    description:
      'Idle write timeout: how long a client may stop reading a reply that is waiting for it before its connection is closed and its request aborted. A slow reader is not affected. Takes effect after one to two times that; 0 means no limit.',
    schema: wholeNumber(0, 2_147_483_647),
  }),
  drainMs: setting({
    variable: 'ORTLER_DRAIN_MS',
    flag: '--drain-ms',
    valueName: 'milliseconds',
    fallback: '10000',
    description: 'Graceful shutdown: how long open requests may continue after a stop signal.',
    schema: wholeNumber(0, 600_000),
  }),
  logLevel: setting({
    variable: 'ORTLER_LOG_LEVEL',
    flag: '--log-level',
    valueName: 'name',
    fallback: 'warn',
    description: 'Lowest level of the log (JSON, on standard error): silent, error, warn, info or debug.',
    schema: oneOf(['silent', 'error', 'warn', 'info', 'debug']),
  }),
} as const;
