// Refuses requests whose headers are ambiguous, or that came by a name which is not this server's. Runs before every route.

import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { ApiError } from '@ortler/api';

/** Host names that are answered; IP addresses and names of this machine always are. `*`: all. */
export type AllowedHosts = '*' | readonly string[];

/** Headers that may come once: proxies and servers disagree on which of two counts. */
const ONCE: readonly string[] = ['authorization', 'host'];

/** Throws: `ApiError` `malformed_request` or `host_not_allowed`. */
export function checkHeaders(
  { rawHeaders, headers, httpVersion }: IncomingMessage,
  allowedHosts: AllowedHosts,
): void {
  for (const name of ONCE)
    if (countOf(rawHeaders, name) > 1)
      throw new ApiError('malformed_request', `The request has more than one ${name} header.`);
  // Source: RFC 9112, section 3.2.
  if (headers.host === undefined && httpVersion !== '1.0')
    throw new ApiError('malformed_request', 'The request has no host header.');
  if (allowedHosts === '*' || isAllowedHost(headers.host, allowedHosts)) return;
  throw new ApiError(
    'host_not_allowed',
    `This server does not answer requests to the host "${headers.host}". ORTLER_ALLOWED_HOSTS lists the names that it answers besides those of this machine.`,
  );
}

/**
 * DNS rebinding: a page of an attacker's site reaches a server on the loopback address by a name of the attacker, and then
 * counts as the same origin. It cannot do that by an IP address, or by a name that only this machine resolves.
 */
export function isAllowedHost(header: string | undefined, allowedHosts: readonly string[]): boolean {
  // HTTP/1.0, which no browser speaks.
  if (header === undefined) return true;
  const name = nameOf(header);
  if (isIP(name) !== 0 || name === 'localhost' || name.endsWith('.localhost')) return true;
  return [hostname(), ...allowedHosts].some(allowed => allowed.toLowerCase() === name);
}

/** The host without its port, in lower case, without the brackets of IPv6 and the dot of a full name. */
function nameOf(header: string): string {
  const [, bracketed, plain = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(header.trim()) ?? [];
  return (bracketed ?? plain).replace(/\.$/, '').toLowerCase();
}

/** Names and values take turns in `rawHeaders`. */
function countOf(rawHeaders: readonly string[], name: string): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]!.toLowerCase() === name) count++;
  return count;
}
