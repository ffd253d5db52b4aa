// Traces of a server as its configuration asks for them.

import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Logger } from 'pino';
import { type Config, ConfigError } from '../config/config.ts';
import { SETTINGS } from '../config/settings.ts';
import { messageOf } from '../db/database-errors.ts';
import { VERSION } from '../system/version.ts';
import { createOtlpExporter } from './otlp-exporter.ts';
import type { CollectorTls } from './post-spans.ts';
import { createTracing, type Tracing } from './tracing.ts';

/** Undefined: no collector is configured. Throws: `ConfigError` where a file of its certificates cannot be used. */
export async function startTracing(config: Config, logger: Logger): Promise<Tracing | undefined> {
  const { otlpTracesEndpoint: endpoint, otlpTracesShare: sampleShare, otlpHeaders: headers } = config;
  if (endpoint === undefined) return undefined;
  const onFailed = (reason: string) => logger.warn({ endpoint, reason }, 'traces could not be sent');
  const tls = await readCollectorTls(config);
  const exporter = createOtlpExporter({ endpoint, headers, tls, serviceVersion: VERSION, onFailed });
  return createTracing({ exporter, sampleShare });
}

/** Throws: `ConfigError`. */
async function readCollectorTls(config: Config): Promise<CollectorTls> {
  const [ca, cert, key] = await Promise.all([
    readPem(config.otlpCertificate, SETTINGS.otlpCertificate),
    readPem(config.otlpClientCertificate, SETTINGS.otlpClientCertificate),
    readPem(config.otlpClientKey, SETTINGS.otlpClientKey),
  ]);
  try {
    createSecureContext({ ca, cert, key });
  } catch (error) {
    const names = `${SETTINGS.otlpClientCertificate.variable} and ${SETTINGS.otlpClientKey.variable}`;
    throw new ConfigError([`${names} are not a certificate with its key: ${messageOf(error)}.`]);
  }
  return { ca, cert, key };
}

async function readPem(
  file: string | undefined,
  { variable }: { readonly variable: string },
): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new ConfigError([`${variable} cannot be read: ${messageOf(error)}.`]);
  });
  if (/^-----BEGIN [A-Z ]+-----$/m.test(text)) return text;
  throw new ConfigError([`${variable} names ${file}, which is not a PEM file.`]);
}
