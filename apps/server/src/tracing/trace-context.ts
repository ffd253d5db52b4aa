// W3C trace context: the identity of a span, as callers send it in `traceparent`. Source: https://www.w3.org/TR/trace-context/

import { randomBytes } from 'node:crypto';

export interface SpanContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  /** Whether the trace is recorded. */
  readonly isSampled: boolean;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The span of the caller; undefined where the header is absent or invalid, which the standard says to ignore. */
export function parseTraceparent(header: string | undefined): SpanContext | undefined {
  const [, version, traceId, spanId, flags, rest] = TRACEPARENT.exec(header?.trim() ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  // Later versions may have more fields; this one has not.
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** A new span below `parent`, or the first of a new trace. The decision of the caller to record holds below it. */
export function newSpanContext(parent: SpanContext | undefined, sampleShare: number): SpanContext {
  const spanId = randomBytes(8).toString('hex');
  if (parent !== undefined) return { ...parent, spanId };
  return { traceId: randomBytes(16).toString('hex'), spanId, isSampled: Math.random() < sampleShare };
}

/** The header by which another server continues the trace below this span. */
export function printTraceparent({ traceId, spanId, isSampled }: SpanContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}
