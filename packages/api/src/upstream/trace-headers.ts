// W3C trace context on its way to an upstream server: spans there belong to the trace of the request here. Source:
// https://www.w3.org/TR/trace-context/

import type { ApiContext } from '../trpc/trpc.ts';

const NAMES = ['traceparent', 'tracestate'] as const;
/** What the standard asks everyone to pass on of a state. Unit: characters. */
const MAX_LENGTH = 512;

/** The headers of the request that a further one has too. Where this server traces, `traceparent` already names its own span. */
export function toTraceHeaders({ headers }: Pick<ApiContext, 'headers'>): Record<string, string> {
  const passed: Record<string, string> = {};
  // A state means nothing without its parent.
  for (const name of headers.traceparent === undefined ? [] : NAMES) {
    const value = headers[name];
    if (value !== undefined && value.length <= MAX_LENGTH && /^[\x20-\x7e]+$/.test(value))
      passed[name] = value;
  }
  return passed;
}
