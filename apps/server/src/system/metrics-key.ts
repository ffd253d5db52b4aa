// Whether a request for /metrics has the key of the metrics.

import { createHash, timingSafeEqual } from 'node:crypto';
import { parseCredentials } from '../rest/credentials.ts';

/** Compares hashes in constant time. The key is a bearer token, or the password of Basic credentials. */
export function isMetricsKey(authorization: string | undefined, key: string): boolean {
  const credentials = parseCredentials(authorization);
  const given =
    credentials.kind === 'bearer'
      ? credentials.token
      : credentials.kind === 'basic'
        ? credentials.password
        : undefined;
  return given !== undefined && timingSafeEqual(hash(given), hash(key));
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
