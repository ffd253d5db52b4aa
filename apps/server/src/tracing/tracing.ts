// Traces: one span for each request to the api, below it the phases of its generation (queue, prefill, decode) and its statements. The
// request's span is known to all work that it starts (AsyncLocalStorage), so no other file passes it on.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { GenerationReport } from '@ortler/api';
import type { Attributes, FinishedSpan, OtlpExporter } from './otlp-exporter.ts';
import { newSpanContext, parseTraceparent, printTraceparent, type SpanContext } from './trace-context.ts';

export interface TracedRequest {
  readonly method: string;
  readonly traceparent: string | undefined;
}

export interface RequestEnd {
  /** Template of the route. */
  readonly route: string;
  readonly status: number;
}

/** The span of a request, which is open. */
export interface RequestSpan {
  /** W3C trace context for requests to other servers, whose spans are below this one. */
  readonly traceparent: string;
  /** Whether the caller's trace goes on, and so its `tracestate`. */
  readonly isContinued: boolean;
  /** Runs `work`, and all that it starts, inside the span. */
  run(work: () => void): void;
  end(end: RequestEnd): void;
}

export interface Tracing {
  /** Opens the span of a request. */
  startRequest(request: TracedRequest): RequestSpan;
  /** Adds the phases of a generation to the current request. */
  generationEnded(report: GenerationReport): void;
  /** Runs a statement in a span of the current request, if there is one. */
  statement<Result>(system: string, sql: string, work: () => Promise<Result>): Promise<Result>;
  /** Sends what is left. */
  close(): Promise<void>;
}

export interface TracingOptions {
  readonly exporter: Pick<OtlpExporter, 'add' | 'close'>;
  /** Sampling ratio of the traces that begin here, 0 to 1. */
  readonly sampleShare: number;
  /** Unit: milliseconds since 1970, with fractions. */
  readonly now?: () => number;
}

/** Creates the tracing of a server. */
export function createTracing({ exporter, sampleShare, now = preciseNow }: TracingOptions): Tracing {
  const current = new AsyncLocalStorage<SpanContext>();

  /** Adds a span below `parent`, if the trace is recorded. */
  function add(
    parent: SpanContext,
    span: Pick<FinishedSpan, 'name' | 'startMs' | 'endMs'> & Partial<Pick<FinishedSpan, 'kind' | 'isError'>>,
    attributes: Attributes = {},
  ): SpanContext {
    const context = newSpanContext(parent, sampleShare);
    if (context.isSampled)
      exporter.add({
        ...toIds(context),
        parentSpanId: parent.spanId,
        kind: 'internal',
        isError: false,
        attributes,
        ...span,
      });
    return context;
  }

  return {
    startRequest({ method, traceparent }) {
      const parent = parseTraceparent(traceparent);
      const context = newSpanContext(parent, sampleShare);
      const startMs = now();
      return {
        traceparent: printTraceparent(context),
        isContinued: parent !== undefined,
        run: work => current.run(context, work),
        end({ route, status }) {
          if (!context.isSampled) return;
          exporter.add({
            ...toIds(context),
            parentSpanId: parent?.spanId,
            name: `${method} ${route}`,
            kind: 'server',
            startMs,
            endMs: now(),
            isError: status >= 500,
            attributes: {
              'http.request.method': method,
              'http.route': route,
              'http.response.status_code': status,
            },
          });
        },
      };
    },
    generationEnded(report) {
      const parent = current.getStore();
      if (parent === undefined || !parent.isSampled || report.outcome === 'refused') return;
      const endMs = now();
      const startMs = endMs - report.durationMs;
      const generation = add(
        parent,
        { name: 'llm_request', startMs, endMs, isError: report.outcome === 'failed' },
        toAttributes(report),
      );
      const { timing, firstTokenMs, decodeMs } = report;
      if (timing === null || firstTokenMs === null) return;
      const firstTokenAtMs = startMs + firstTokenMs;
      const prefillAtMs = firstTokenAtMs - timing.prefillMs;
      add(generation, { name: 'queue', startMs: prefillAtMs - timing.queuedMs, endMs: prefillAtMs });
      add(generation, { name: 'prefill', startMs: prefillAtMs, endMs: firstTokenAtMs });
      if (decodeMs !== null)
        add(generation, { name: 'decode', startMs: firstTokenAtMs, endMs: firstTokenAtMs + decodeMs });
    },
    async statement(system, sql, work) {
      const parent = current.getStore();
      if (parent === undefined || !parent.isSampled) return work();
      const startMs = now();
      let isError = true;
      try {
        const result = await work();
        isError = false;
        return result;
      } finally {
        const operation = /^\s*(\w+)/.exec(sql)?.[1]?.toUpperCase() ?? 'STATEMENT';
        // Values are parameters, so the text has none of a caller.
        const attributes = { 'db.system.name': system, 'db.operation.name': operation, 'db.query.text': sql };
        add(
          parent,
          { name: `${system} ${operation}`, kind: 'client', startMs, endMs: now(), isError },
          attributes,
        );
      }
    },
    close: () => exporter.close(),
  };
}

/** Names of OpenTelemetry's conventions for generative models, as vLLM gives them. */
function toAttributes(report: GenerationReport): Attributes {
  const { firstTokenMs, timing, durationMs } = report;
  return {
    'gen_ai.response.model': report.modelId,
    'gen_ai.request.n': report.choiceCount,
    'gen_ai.request.max_tokens': report.maxTokens ?? undefined,
    'gen_ai.usage.prompt_tokens': report.promptTokenCount,
    'gen_ai.usage.completion_tokens': report.completionTokenCount,
    'gen_ai.response.finish_reasons': report.finishReasons.map(toWireReason),
    'gen_ai.latency.e2e': durationMs / 1_000,
    'gen_ai.latency.time_to_first_token': firstTokenMs === null ? undefined : firstTokenMs / 1_000,
    'gen_ai.latency.time_in_queue': timing === null ? undefined : timing.queuedMs / 1_000,
  };
}

/** As the caller reads it. */
function toWireReason(reason: string): string {
  return reason === 'tool-calls' ? 'tool_calls' : reason;
}

function toIds({ traceId, spanId }: SpanContext): Pick<FinishedSpan, 'traceId' | 'spanId'> {
  return { traceId, spanId };
}

function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}
