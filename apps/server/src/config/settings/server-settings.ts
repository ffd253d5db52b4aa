// Settings of the HTTP server: address, keys, CORS, size limits, timeouts and log level. Caller: `../settings.ts`.

import { z } from 'zod';
import type { AllowedHosts } from '../../rest/check-headers.ts';
import {
  byteSize,
  folder,
  headerList,
  hostList,
  httpUrl,
  MEBIBYTE,
  oneOf,
  originList,
  share,
  wholeNumber,
} from '../setting-values.ts';
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
  metricsKey: setting<string | undefined>({
    variable: 'ORTLER_METRICS_KEY',
    flag: '--metrics-key',
    valueName: 'key',
    fallback: undefined,
    shownFallback: 'none: /metrics is open, without the names of checkpoints',
    description:
      'Key that /metrics asks for, as a bearer token or the password of Basic credentials. Prefer the variable: flags show in process lists.',
    schema: z
      .string()
      .min(1, 'must not be empty')
      .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces'),
    isSecret: true,
  }),
  metricsPort: setting<number | undefined>({
    variable: 'ORTLER_METRICS_PORT',
    flag: '--metrics-port',
    valueName: 'number',
    fallback: undefined,
    shownFallback: 'the port of the API',
    description:
      'Port of /metrics alone, on the same address, which then is not served on the port of the API; 0 takes a free one. With a key, or on a port of its own, /metrics names checkpoints, and so their teams.',
    schema: wholeNumber(0, 65_535),
  }),
  otlpTracesEndpoint: setting<string | undefined>({
    variable: 'ORTLER_OTLP_TRACES_ENDPOINT',
    flag: '--otlp-traces-endpoint',
    valueName: 'url',
    fallback: undefined,
    shownFallback: 'no traces',
    description:
      "OpenTelemetry: address of a collector that gets traces, by OTLP over HTTP with JSON, such as http://localhost:4318/v1/traces. The caller's traceparent is continued.",
    schema: httpUrl(),
  }),
  otlpHeaders: setting<Readonly<Record<string, string>> | undefined>({
    variable: 'OTEL_EXPORTER_OTLP_HEADERS',
    flag: '--otlp-headers',
    valueName: 'name=value,...',
    fallback: undefined,
    shownFallback: 'none',
    description:
      'OpenTelemetry: headers for the collector, values percent-encoded, such as a key. Prefer the variable: flags show in process lists.',
    isSecret: true,
    schema: headerList(),
  }),
  otlpCertificate: setting<string | undefined>({
    variable: 'OTEL_EXPORTER_OTLP_CERTIFICATE',
    flag: '--otlp-certificate',
    valueName: 'file',
    fallback: undefined,
    shownFallback: 'those of Node',
    description:
      'OpenTelemetry: file with the certificates (PEM) that the TLS of the collector is checked with.',
    schema: folder(),
  }),
  otlpClientCertificate: setting<string | undefined>({
    variable: 'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE',
    flag: '--otlp-client-certificate',
    valueName: 'file',
    fallback: undefined,
    shownFallback: 'none',
    description: 'OpenTelemetry: certificate (PEM) that this server shows to the collector; with a key.',
    schema: folder(),
  }),
  otlpClientKey: setting<string | undefined>({
    variable: 'OTEL_EXPORTER_OTLP_CLIENT_KEY',
    flag: '--otlp-client-key',
    valueName: 'file',
    fallback: undefined,
    shownFallback: 'none',
    description: 'OpenTelemetry: private key (PEM) of that certificate.',
    schema: folder(),
  }),
  otlpTracesShare: setting({
    variable: 'ORTLER_OTLP_TRACES_SHARE',
    flag: '--otlp-traces-share',
    valueName: 'share',
    fallback: '1',
    description:
      'OpenTelemetry: sampling ratio of the traces that begin here, 0 to 1. Where the caller sends a traceparent, its flag decides.',
    schema: share(),
  }),
  allowedHosts: setting<AllowedHosts | undefined>({
    variable: 'ORTLER_ALLOWED_HOSTS',
    flag: '--allowed-hosts',
    valueName: 'name,...',
    fallback: undefined,
    shownFallback: 'names of this machine on a loopback address, else all',
    description:
      'Host names that requests may have in their Host header, besides IP addresses, localhost and the name of this machine; * allows all. A reverse proxy that passes on its own Host needs it. Protects against DNS rebinding.',
    schema: hostList(),
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
  drainDelayMs: setting({
    variable: 'ORTLER_DRAIN_DELAY_MS',
    flag: '--drain-delay-ms',
    valueName: 'milliseconds',
    fallback: '0',
    description:
      'Graceful shutdown behind a router: how long the server still answers everything after a stop signal, while /health and /health/ready say 503, so that the router sends requests elsewhere. The time of --drain-ms follows.',
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
