// Sends spans to a collector: OTLP over HTTP with JSON, in batches, beside the requests. A collector that is slow or away costs
// spans, never memory or time of requests. Source: https://opentelemetry.io/docs/specs/otlp/

import { type Collector, postSpans } from './post-spans.ts';

type AttributeValue = string | number | boolean | readonly string[];

export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

export interface FinishedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client';
  /** Unit: milliseconds since 1970, with fractions. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly isError: boolean;
}

export interface OtlpExporterOptions extends Collector {
  readonly serviceVersion: string;
  /** Called with the first of several failures. */
  readonly onFailed: (reason: string) => void;
}

export interface OtlpExporter {
  add(span: FinishedSpan): void;
  /** Spans that were lost, because the queue was full or the collector failed. */
  readonly lostCount: number;
  /** Sends what is left, as far as the collector takes it soon. */
  close(): Promise<void>;
}

const BATCH_SIZE = 512;
/** Spans that wait; more are lost. */
const QUEUE_LIMIT = 4_096;
const INTERVAL_MS = 2_000;
/** Longest time that a stop waits for the collector: less than what orchestrators grant. */
const CLOSE_MS = 2_000;

const KINDS = { internal: 1, server: 2, client: 3 } as const;
const STATUS_ERROR = 2;

/** Creates an exporter, which starts with its first span. */
export function createOtlpExporter({
  serviceVersion,
  onFailed,
  ...collector
}: OtlpExporterOptions): OtlpExporter {
  let waiting: FinishedSpan[] = [];
  let sending: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let lostCount = 0;
  let isFailing = false;
  const stopping = new AbortController();

  const send = async (spans: readonly FinishedSpan[]) => {
    try {
      await postSpans(collector, JSON.stringify(toOtlp(spans, serviceVersion)), stopping.signal);
      isFailing = false;
    } catch (error) {
      lostCount += spans.length;
      if (!isFailing) onFailed((error as Error).message);
      isFailing = true;
    }
  };
  /** One batch at a time. */
  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_SIZE);
      waiting = waiting.slice(BATCH_SIZE);
      await send(batch);
    }
  };
  const startSending = (): Promise<void> => {
    sending ??= flush().finally(() => {
      sending = undefined;
    });
    return sending;
  };

  return {
    add(span) {
      if (waiting.length >= QUEUE_LIMIT) {
        lostCount++;
        return;
      }
      waiting.push(span);
      if (waiting.length >= BATCH_SIZE) void startSending();
      else timer ??= setTimeout(() => void startSending(), INTERVAL_MS).unref();
    },
    get lostCount() {
      return lostCount;
    },
    async close() {
      const limit = setTimeout(
        () => stopping.abort(new Error('the server stops, and the collector does not answer')),
        CLOSE_MS,
      );
      // Another time for what came after the last look of a sending that was under way.
      await startSending();
      await startSending();
      clearTimeout(limit);
    },
  };
}

/** An `ExportTraceServiceRequest` in JSON. */
export function toOtlp(spans: readonly FinishedSpan[], serviceVersion: string): object {
  const resource = { 'service.name': 'ortler', 'service.version': serviceVersion };
  return {
    resourceSpans: [
      {
        resource: { attributes: toAttributes(resource) },
        scopeSpans: [{ scope: { name: 'ortler', version: serviceVersion }, spans: spans.map(toOtlpSpan) }],
      },
    ],
  };
}

function toOtlpSpan({ traceId, spanId, parentSpanId, name, kind, ...span }: FinishedSpan) {
  return {
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: toNanoseconds(span.startMs),
    endTimeUnixNano: toNanoseconds(span.endMs),
    attributes: toAttributes(span.attributes),
    status: span.isError ? { code: STATUS_ERROR } : {},
  };
}

function toAttributes(attributes: Attributes) {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: toValue(value) }],
  );
}

/** 64-bit integers are text in the JSON of protobuf. */
function toValue(value: AttributeValue) {
  if (typeof value === 'object')
    return { arrayValue: { values: value.map(stringValue => ({ stringValue })) } };
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

function toNanoseconds(milliseconds: number): string {
  const whole = Math.floor(milliseconds);
  const rest = Math.round((milliseconds - whole) * 1_000_000);
  return String(BigInt(whole) * 1_000_000n + BigInt(rest));
}
