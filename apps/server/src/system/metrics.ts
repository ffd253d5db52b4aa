// Prometheus metrics. Names and labels are those of vLLM where it has them, so existing dashboards work.

import type { GenerationObserver, GenerationReport, ModelCatalog } from '@ortler/api';
import { Counter, Histogram, Registry } from 'prom-client';
import { MODEL_LABELS, measureEngines, type NamedEngine, toModelLabels } from './engine-metrics.ts';
import { measureProcess } from './process-metrics.ts';

/** Unit: seconds. */
const LATENCY_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
/** Unit: seconds. */
const TOKEN_TIME_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 1, 2.5];
const TOKEN_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000];

/** How choices end. Source: vLLM's values of the label. */
const FINISHED_REASONS = ['stop', 'length', 'abort', 'error', 'repetition'];

/** An HTTP request that was answered. */
export interface AnsweredRequest {
  readonly method: string;
  /** The route, with its parameters in braces; never the path itself, of which there are as many as clients like. */
  readonly handler: string;
  readonly status: number;
}

export interface Metrics extends GenerationObserver {
  requestAnswered(request: AnsweredRequest): void;
  readonly contentType: string;
  /** The exposition text. */
  render(): Promise<string>;
}

/** Engines besides those of the catalog. */
interface OtherEngines {
  list(): readonly NamedEngine[];
}

/** Builds the metrics of one server. Gauges read the engines at scrape time. */
export function createMetrics(catalog: ModelCatalog, others: OtherEngines = { list: () => [] }): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const counter = (name: string, help: string) =>
    new Counter({ name, help, labelNames: MODEL_LABELS, registers });
  const histogram = (name: string, help: string, buckets: number[]) =>
    new Histogram({ name, help, labelNames: MODEL_LABELS, buckets, registers });

  measureEngines(registry, () => [...readyEngines(catalog), ...others.list()]);

  const promptTokens = counter('vllm:prompt_tokens_total', 'Prompt tokens of ended requests.');
  const generationTokens = counter('vllm:generation_tokens_total', 'Generated tokens of ended requests.');
  const success = new Counter({
    name: 'vllm:request_success_total',
    help: 'Ended choices by their reason; requests without one count as abort or error.',
    labelNames: [...MODEL_LABELS, 'finished_reason'],
    registers,
  });
  const firstToken = histogram(
    'vllm:time_to_first_token_seconds',
    'From request to first token.',
    LATENCY_BUCKETS,
  );
  const timePerToken = histogram(
    'vllm:request_time_per_output_token_seconds',
    'Mean time between the tokens of a request, its first one left out.',
    TOKEN_TIME_BUCKETS,
  );
  const tokenGap = histogram(
    'vllm:inter_token_latency_seconds',
    'From tokens of a choice to its next ones.',
    TOKEN_TIME_BUCKETS,
  );
  const latency = histogram(
    'vllm:e2e_request_latency_seconds',
    'From request to last token.',
    LATENCY_BUCKETS,
  );
  const queueTime = histogram(
    'vllm:request_queue_time_seconds',
    'From the arrival of a request at the model to the first step with it.',
    LATENCY_BUCKETS,
  );
  const prefillTime = histogram(
    'vllm:request_prefill_time_seconds',
    'From the first step with a request to its first token.',
    LATENCY_BUCKETS,
  );
  const decodeTime = histogram(
    'vllm:request_decode_time_seconds',
    'From the first token of a request to its last.',
    LATENCY_BUCKETS,
  );
  const inferenceTime = histogram(
    'vllm:request_inference_time_seconds',
    'From the first step with a request to its last token.',
    LATENCY_BUCKETS,
  );
  const promptLength = histogram('vllm:request_prompt_tokens', 'Prompt tokens of a request.', TOKEN_BUCKETS);
  const length = histogram('vllm:request_generation_tokens', 'Generated tokens of a request.', TOKEN_BUCKETS);

  const longestChoice = histogram(
    'vllm:request_max_num_generation_tokens',
    'Generated tokens of the longest choice of a request.',
    TOKEN_BUCKETS,
  );

  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Answered HTTP requests by route and class of status.',
    labelNames: ['method', 'handler', 'status'],
    registers,
  });
  measureProcess(registry);

  const counters = [promptTokens, generationTokens];
  const histograms = [
    ...[firstToken, timePerToken, tokenGap, latency],
    ...[queueTime, prefillTime, decodeTime, inferenceTime],
    ...[promptLength, length, longestChoice],
  ];
  const begun = new Set<string>();
  /** Begins all series of a model at 0: what first appears with a value looks to `rate` as if it had always had it. */
  function begin(modelId: string): void {
    if (begun.has(modelId)) return;
    begun.add(modelId);
    const labels = toModelLabels(modelId);
    for (const each of counters) each.inc(labels, 0);
    for (const reason of FINISHED_REASONS) success.inc({ ...labels, finished_reason: reason }, 0);
    for (const each of histograms) each.zero(labels);
  }

  function observePhases(
    labels: ReturnType<typeof toModelLabels>,
    { timing, decodeMs }: GenerationReport,
  ): void {
    if (timing === null) return;
    queueTime.observe(labels, timing.queuedMs / 1000);
    prefillTime.observe(labels, timing.prefillMs / 1000);
    if (decodeMs === null) return;
    decodeTime.observe(labels, decodeMs / 1000);
    inferenceTime.observe(labels, (timing.prefillMs + decodeMs) / 1000);
  }

  return {
    requestAnswered({ method, handler, status }) {
      requests.inc({ method, handler, status: `${Math.floor(status / 100)}xx` });
    },
    contentType: registry.contentType,
    render() {
      for (const { id } of catalog.list()) begin(id);
      return registry.metrics();
    },
    generationEnded(report: GenerationReport) {
      if (report.outcome === 'refused') return;
      const labels = toModelLabels(report.modelId);
      begin(report.modelId);
      promptTokens.inc(labels, report.promptTokenCount);
      generationTokens.inc(labels, report.completionTokenCount);
      for (const reason of endReasons(report)) success.inc({ ...labels, finished_reason: reason });
      if (report.firstTokenMs !== null) firstToken.observe(labels, report.firstTokenMs / 1000);
      const tokenMs = msPerToken(report);
      if (tokenMs !== null) timePerToken.observe(labels, tokenMs / 1000);
      for (const gapMs of report.tokenGapsMs) tokenGap.observe(labels, gapMs / 1000);
      latency.observe(labels, report.durationMs / 1000);
      observePhases(labels, report);
      promptLength.observe(labels, report.promptTokenCount);
      length.observe(labels, report.completionTokenCount);
      longestChoice.observe(labels, report.longestChoiceTokenCount);
    },
  };
}

function readyEngines(catalog: ModelCatalog): readonly NamedEngine[] {
  return catalog
    .list()
    .flatMap(({ id, status }) => (status.kind === 'ready' ? [{ name: id, engine: status.engine }] : []));
}

function endReasons({ outcome, finishReasons }: GenerationReport): readonly string[] {
  if (outcome === 'finished') return finishReasons;
  return [...finishReasons, outcome === 'aborted' ? 'abort' : 'error'];
}

/** Choices of a request run side by side; null where no choice had a second token. Unit: milliseconds. */
function msPerToken(report: GenerationReport): number | null {
  const { durationMs, firstTokenMs, completionTokenCount, choiceCount } = report;
  const laterCount = completionTokenCount / choiceCount - 1;
  return firstTokenMs === null || laterCount <= 0 ? null : (durationMs - firstTokenMs) / laterCount;
}
