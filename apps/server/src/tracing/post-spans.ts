// POST of one batch of spans to a collector. Not `fetch`, which takes no certificates of its own.

import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

/** TLS of the collector, in PEM. Absent values are those of Node. */
export interface CollectorTls {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export interface Collector {
  /** Address of the collector's traces, such as http://localhost:4318/v1/traces. */
  readonly endpoint: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly tls?: CollectorTls | undefined;
}

const TIMEOUT_MS = 10_000;

/** Resolves once the collector has taken the body. Throws: for another status, and where it does not answer; the reason of the signal. */
export function postSpans(
  { endpoint, headers = {}, tls = {} }: Collector,
  body: string,
  stopping: AbortSignal,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(TIMEOUT_MS)]);
  const options = {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
    signal,
  };
  const isTls = endpoint.startsWith('https:');
  const call = isTls ? requestHttps(endpoint, { ...options, ...tls }) : requestHttp(endpoint, options);
  const fail = (error: Error) => reject(signal.aborted ? signal.reason : error);
  call.once('error', fail);
  call.once('response', reply => {
    const { statusCode = 0 } = reply;
    // The connection is free once the reply was read.
    reply.once('error', fail).resume();
    reply.once('end', () => {
      if (statusCode >= 200 && statusCode < 300) resolve();
      else reject(new Error(`status ${statusCode}`));
    });
  });
  call.end(body);
  return promise;
}
