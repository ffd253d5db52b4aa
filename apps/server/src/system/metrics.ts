// Prometheus metrics: throughput, latency (TTFT, ITL), queue and prefill times, prefix caching, HTTP requests. Names and
// labels are those of vLLM where it has them, so that existing dashboards work.

import type { GenerationObserver, GenerationReport, ModelCatalog } from '@ortler/api';
import { Counter, Histogram, Registry } from 'prom-client';
import { describeEngines, printStepSizes } from './engine-info-metrics.ts';
import { MODEL_LABELS, measureEngines, type NamedEngine, toModelLabels } from './engine-metrics.ts';
import { GENERATED_TOKENS, type MetricSeries } from './load-sample.ts';
import { measureProcess } from './process-metrics.ts';
import { measureUpstreams } from './upstream-metrics.ts';

/** Unit: seconds. */
const LATENCY_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
/** Unit: seconds. */
const TOKEN_TIME_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 1, 2.5];
const TOKEN_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000];

/** How long the series of an unloaded checkpoint stay, so that their last values are scraped. Unit: milliseconds. */
const KEEP_SERIES_MS = 10 * 60 * 1000;

/** Values of the label `finished_reason`. Source: vLLM. */
const FINISHED_REASONS = ['stop', 'length', 'abort', 'error', 'repetition'];
/** An answer that ends with calls of tools has stopped by itself. */
const REASONS_OF_CALLS = ['tool-calls', 'tool_calls', 'function_call'];
/** Reasons that other servers give are their own words, so they are no labels. */
const OTHER_REASON = 'other';

/** An answered HTTP request. */
export interface AnsweredRequest {
  readonly method: string;
  /** Template of the route, such as `/v1/models/{model_id}`; never the path, whose values are unbounded. */
  readonly handler: string;
  readonly status: number;
  readonly durationMs: number;
}

export interface Metrics extends GenerationObserver {
  requestAnswered(request: AnsweredRequest): void;
  readonly contentType: string;
  /** The metrics in the text format of Prometheus. */
  render(): Promise<string>;
  /** The metrics as values. */
  readSeries(): Promise<readonly MetricSeries[]>;
}

/** Engines besides those of the catalog. */
interface OtherEngines {
  list(): readonly NamedEngine[];
}

export interface MetricsOptions {
  /** A clock; only differences of its values matter. Unit: milliseconds. */
  readonly now?: () => number;
  /**
   * Whether the label `model_name` has the names of checkpoints, which reveal their teams. Otherwise all
   * checkpoints together are `checkpoints`. Default: true.
   */
  readonly namesCheckpoints?: boolean;
  /** Default: true. */
  readonly isPrefixCaching?: boolean;
  /** Maximum number of checkpoints in memory. Default: 0. */
  readonly maxCheckpoints?: number;
}

/** `model_name` of all checkpoints. */
const ALL_CHECKPOINTS = 'checkpoints';

/** Creates the metrics of one server. Gauges read the engines at scrape time. */
export function createMetrics(
  catalog: ModelCatalog,
  others: OtherEngines = { list: () => [] },
  {
    now = () => performance.now(),
    namesCheckpoints = true,
    isPrefixCaching = true,
    maxCheckpoints = 0,
  }: MetricsOptions = {},
): Metrics {
  const registry = new Registry();
  const registers = [registry];
  /** Metrics per model, to be initialised for each model. */
  const counters: Counter<(typeof MODEL_LABELS)[number]>[] = [];
  const histograms: Histogram<(typeof MODEL_LABELS)[number]>[] = [];
  const counter = (name: string, help: string) => {
    const metric = new Counter({ name, help, labelNames: MODEL_LABELS, registers });
    counters.push(metric);
    return metric;
  };
  const histogram = (name: string, help: string, buckets: number[]) => {
    const metric = new Histogram({ name, help, labelNames: MODEL_LABELS, buckets, registers });
    histograms.push(metric);
    return metric;
  };

  const nameOf = (modelId: string) =>
    namesCheckpoints || catalog.find(modelId) !== undefined ? modelId : ALL_CHECKPOINTS;
  const listOthers = () => others.list().map(({ name, engine }) => ({ name: nameOf(name), engine }));
  const listEngines = () => [...readyEngines(catalog), ...listOthers()];
  measureEngines(registry, listEngines);
  // One engine each: all checkpoints together have no one cache.
  const listNamed = () => (namesCheckpoints ? listEngines() : readyEngines(catalog));
  describeEngines(registry, {
    list: listNamed,
    isPrefixCaching,
    checkpoints: namesCheckpoints ? () => others.list() : null,
    maxCheckpoints,
  });

  const promptTokens = counter('vllm:prompt_tokens_total', 'Prompt tokens of ended requests.');
  const generationTokens = counter('vllm:generation_tokens_total', 'Generated tokens of ended requests.');
  const deliveredTokens = counter(GENERATED_TOKENS, 'Generated tokens, counted as they come.');
  const success = new Counter({
    name: 'vllm:request_success_total',
    help: 'Ended choices by their reason; requests without one count as abort or error.',
    labelNames: [...MODEL_LABELS, 'finished_reason'],
    registers,
  });
  const firstToken = histogram(
    'vllm:time_to_first_token_seconds',
    'Time to first token (TTFT): from request to first token.',
    LATENCY_BUCKETS,
  );
  const timePerToken = histogram(
    'vllm:request_time_per_output_token_seconds',
    'Time per output token (TPOT): mean time between the tokens of a request after the first.',
    TOKEN_TIME_BUCKETS,
  );
  const tokenGap = histogram(
    'vllm:inter_token_latency_seconds',
    'Inter-token latency (ITL): from tokens of a choice to its next ones.',
    TOKEN_TIME_BUCKETS,
  );
  const latency = histogram(
    'vllm:e2e_request_latency_seconds',
    'End-to-end latency: from request to last token.',
    LATENCY_BUCKETS,
  );
  const queueTime = histogram(
    'vllm:request_queue_time_seconds',
    'Time in the queue: from arrival at the model to the first step of a request.',
    LATENCY_BUCKETS,
  );
  const prefillTime = histogram(
    'vllm:request_prefill_time_seconds',
    'Prefill time: from the first step of a request to its first token.',
    LATENCY_BUCKETS,
  );
  const decodeTime = histogram(
    'vllm:request_decode_time_seconds',
    'Decode time: from the first token of a request to its last.',
    LATENCY_BUCKETS,
  );
  const inferenceTime = histogram(
    'vllm:request_inference_time_seconds',
    'Inference time: from the first step of a request to its last token.',
    LATENCY_BUCKETS,
  );
  const promptLength = histogram('vllm:request_prompt_tokens', 'Prompt tokens of a request.', TOKEN_BUCKETS);
  const length = histogram('vllm:request_generation_tokens', 'Generated tokens of a request.', TOKEN_BUCKETS);

  const longestChoice = histogram(
    'vllm:request_max_num_generation_tokens',
    'Generated tokens of the longest choice of a request.',
    TOKEN_BUCKETS,
  );

  const choiceParameter = histogram(
    'vllm:request_params_n',
    'The parameter n of a request.',
    [1, 2, 5, 10, 20],
  );
  const lengthParameter = histogram(
    'vllm:request_params_max_tokens',
    'The parameter max_tokens of a request that has it.',
    TOKEN_BUCKETS,
  );

  const requestTime = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the arrival of an HTTP request to the end of its answer, by route.',
    labelNames: ['method', 'handler'],
    buckets: LATENCY_BUCKETS,
    registers,
  });
  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Answered HTTP requests by route and class of status.',
    labelNames: ['method', 'handler', 'status'],
    registers,
  });
  measureProcess(registry);
  measureUpstreams(registry, catalog);

  const initialised = new Set<string>();
  /** Models that are no longer loaded, with the time when that was first seen. Unit: milliseconds. */
  const goneSince = new Map<string, number>();

  /** Removes the series of checkpoints that were unloaded, which would otherwise grow with every training run. */
  function forgetGone(present: ReadonlySet<string>): void {
    for (const modelId of initialised) {
      if (present.has(modelId)) {
        goneSince.delete(modelId);
        continue;
      }
      const sinceMs = goneSince.get(modelId) ?? now();
      goneSince.set(modelId, sinceMs);
      if (now() - sinceMs >= KEEP_SERIES_MS) forget(modelId);
    }
  }

  function forget(modelId: string): void {
    initialised.delete(modelId);
    goneSince.delete(modelId);
    const labels = toModelLabels(modelId);
    for (const each of [...counters, ...histograms]) each.remove(labels);
    for (const reason of [...FINISHED_REASONS, OTHER_REASON])
      success.remove({ ...labels, finished_reason: reason });
  }

  /** Initialises all series of a model to 0, because `rate` misses the first increase of a series that appears later. */
  function initialise(modelId: string): void {
    if (initialised.has(modelId)) return;
    initialised.add(modelId);
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
    requestAnswered({ method, handler, status, durationMs }) {
      requestTime.observe({ method, handler }, durationMs / 1000);
      requests.inc({ method, handler, status: `${Math.floor(status / 100)}xx` });
    },
    contentType: registry.contentType,
    async render() {
      const ids = catalog.list().map(({ id }) => id);
      for (const id of ids) initialise(id);
      forgetGone(new Set([...ids, ...listOthers().map(({ name }) => name)]));
      return `${await registry.metrics()}\n${printStepSizes(listNamed())}`;
    },
    readSeries() {
      for (const { id } of catalog.list()) initialise(id);
      return registry.getMetricsAsJSON();
    },
    tokensGenerated(modelId, count) {
      const modelName = nameOf(modelId);
      initialise(modelName);
      deliveredTokens.inc(toModelLabels(modelName), count);
    },
    generationEnded(report: GenerationReport) {
      if (report.outcome === 'refused') return;
      const modelName = nameOf(report.modelId);
      const labels = toModelLabels(modelName);
      initialise(modelName);
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
      choiceParameter.observe(labels, report.choiceCount);
      if (report.maxTokens !== null) lengthParameter.observe(labels, report.maxTokens);
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
  const reasons = finishReasons.map(toFinishedReason);
  if (outcome === 'finished') return reasons;
  return [...reasons, outcome === 'aborted' ? 'abort' : 'error'];
}

function toFinishedReason(reason: string): string {
  if (REASONS_OF_CALLS.includes(reason)) return 'stop';
  return FINISHED_REASONS.includes(reason) ? reason : OTHER_REASON;
}

/** Time per output token, of choices that run in parallel; null where none had a second token. Unit: milliseconds. */
function msPerToken(report: GenerationReport): number | null {
  const { durationMs, firstTokenMs, completionTokenCount, choiceCount } = report;
  const laterCount = completionTokenCount / choiceCount - 1;
  return firstTokenMs === null || laterCount <= 0 ? null : (durationMs - firstTokenMs) / laterCount;
}
