// Settings of the server as a network service: where it listens, who may call, how much it reads, what it writes to its
// log. Caller: `../settings.ts`.

import { z } from 'zod';
import { byteSize, MEBIBYTE, oneOf, originList, wholeNumber } from '../setting-values.ts';
import { setting } from './setting.ts';

export const SERVER_SETTINGS = {
  host: setting({
    variable: 'ORTLER_HOST',
    flag: '--host',
    valueName: 'address',
    fallback: '127.0.0.1',
    description: 'Address to listen on; 0.0.0.0 for every interface.',
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
      'A key that is accepted besides the stored ones. Prefer the variable: flags show in process lists.',
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
    description: 'Web origins that browsers may call from; * for all, none for no cross-origin calls.',
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
    description: 'Largest body of logged trajectories, which is stored as it arrives; as --body-limit.',
    schema: byteSize(1_024, 1_024 * MEBIBYTE),
  }),
  stalledReaderMs: setting({
    variable: 'ORTLER_STALLED_READER_MS',
    flag: '--stalled-reader-ms',
    valueName: 'milliseconds',
    // As long as a request may take to arrive: `REQUEST_TIMEOUT_MS` of `app.ts`.
    fallback: '120000',
    description:
      'How long a client may take nothing of what waits for it before its connection is ended and its request aborted, as if it had left; noticed at the latest after twice that time; 0 for ever.',
    schema: wholeNumber(0, 2_147_483_647),
  }),
  drainMs: setting({
    variable: 'ORTLER_DRAIN_MS',
    flag: '--drain-ms',
    valueName: 'milliseconds',
    fallback: '10000',
    description: 'How long open answers may go on after a stop signal.',
    schema: wholeNumber(0, 600_000),
  }),
  logLevel: setting({
    variable: 'ORTLER_LOG_LEVEL',
    flag: '--log-level',
    valueName: 'name',
    fallback: 'warn',
    description:
      'Least serious log lines to write (JSON, to standard error): silent, error, warn, info or debug.',
    schema: oneOf(['silent', 'error', 'warn', 'info', 'debug']),
  }),
} as const;
