// Parses the Authorization header into the api's credentials.

import type { Credentials } from '@ortler/api';

/** Parses the header. The scheme's case does not matter; a scheme without a value is not a credential. */
export function parseCredentials(header: string | undefined): Credentials {
  if (header === undefined) return { kind: 'none' };
  const [, scheme, value] = /^\s*(\S+)\s+(\S.*?)\s*$/.exec(header) ?? [];
  if (scheme === undefined || value === undefined) return { kind: 'none' };
  switch (scheme.toLowerCase()) {
    case 'bearer':
      return { kind: 'bearer', token: value };
    case 'basic':
      return parseBasic(value) ?? { kind: 'other', scheme };
    default:
      return { kind: 'other', scheme };
  }
}

/** Base64 of `username:password`; the password may hold colons. Source: RFC 7617. */
function parseBasic(value: string): Credentials | null {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(value)) return null;
  const text = Buffer.from(value, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon === -1) return null;
  return { kind: 'basic', username: text.slice(0, colon), password: text.slice(colon + 1) };
}
