// Failures that another attempt may overcome: cut connections, silence, busy servers.

import { HubError } from '../errors.ts';

export type TransportFailureKind = 'connection' | 'busy' | 'rate-limited';

/** Never leaves this package: `retry` turns the last one into a `HubError`. */
export class TransportFailure extends Error {
  override readonly name = 'TransportFailure';
  readonly kind: TransportFailureKind;
  /** From Retry-After. */
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: TransportFailureKind,
    message: string,
    { retryAfterMs, cause }: { readonly retryAfterMs?: number | undefined; readonly cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }

  toHubError(): HubError {
    const code = this.kind === 'rate-limited' ? 'rate_limited' : 'unreachable';
    return new HubError(code, this.message, { cause: this });
  }
}

/**
 * Milliseconds of a Retry-After header: seconds, or a date. Undefined for none and for one that cannot be read.
 * Source: RFC 9110, section 10.2.3.
 */
export function readRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}(\.\d+)?$/.test(header.trim())) return Math.ceil(Number(header) * 1000);
  // A date has names of day and month. `Date.parse` also takes bare numbers, for dates long ago.
  const date = /^[a-z]{3}/i.test(header.trim()) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
