// The Authorization header as the api's credentials.

import type { Credentials } from '@ortler/api';

/** Parses the header. The scheme's case does not matter; a scheme without a value is no credential. */
export function parseCredentials(header: string | undefined): Credentials {
  if (header === undefined) return { kind: 'none' };
  const [, scheme, value] = /^\s*(\S+)\s+(\S.*?)\s*$/.exec(header) ?? [];
  if (scheme === undefined || value === undefined) return { kind: 'none' };
  return scheme.toLowerCase() === 'bearer' ? { kind: 'bearer', token: value } : { kind: 'other', scheme };
}
