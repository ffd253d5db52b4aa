// Traces of a server as its configuration asks for them.

import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { VERSION } from '../system/version.ts';
import { createOtlpExporter } from './otlp-exporter.ts';
import type { CollectorTls } from './post-spans.ts';
import { createTracing, type Tracing } from './tracing.ts';

/** Undefined: no collector is configured. Throws: where a file of its certificates cannot be read. */
export async function startTracing(config: Config, logger: Logger): Promise<Tracing | undefined> {
  const { otlpTracesEndpoint: endpoint, otlpTracesShare: sampleShare, otlpHeaders: headers } = config;
  if (endpoint === undefined) return undefined;
  const onFailed = (reason: string) => logger.warn({ endpoint, reason }, 'traces could not be sent');
  const tls = await readCollectorTls(config);
  const exporter = createOtlpExporter({ endpoint, headers, tls, serviceVersion: VERSION, onFailed });
  return createTracing({ exporter, sampleShare });
}

async function readCollectorTls(config: Config): Promise<CollectorTls> {
  const read = (file: string | undefined) => (file === undefined ? undefined : readFile(file, 'utf8'));
  const [ca, cert, key] = await Promise.all([
    read(config.otlpCertificate),
    read(config.otlpClientCertificate),
    read(config.otlpClientKey),
  ]);
  return { ca, cert, key };
}
