// Prometheus metrics. Names and labels are those of vLLM where it has them, so existing dashboards work.

import type { GenerationObserver, GenerationReport, ModelCatalog } from '@ortler/api';
import type { Engine } from '@ortler/engine';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Unit: seconds. */
const LATENCY_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
/** Unit: seconds. */
const TOKEN_TIME_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 1, 2.5];
const TOKEN_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000];

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
  list(): readonly { readonly name: string; readonly engine: Engine }[];
}

/** Builds the metrics of one server. Gauges read the engines at scrape time. */
export function createMetrics(catalog: ModelCatalog, others: OtherEngines = { list: () => [] }): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const labelNames = ['model_name', 'engine'] as const;
  const labelsOf = (modelId: string) => ({ model_name: modelId, engine: '0' });
  const counter = (name: string, help: string) => new Counter({ name, help, labelNames, registers });
  const histogram = (name: string, help: string, buckets: number[]) =>
    new Histogram({ name, help, labelNames, buckets, registers });

  /** A metric that gives, when it is asked, what every engine that runs says of itself then. */
  const ofEngines = (name: string, help: string, read: (stats: EngineStats) => number) => ({
    name,
    help,
    labelNames,
    registers,
    collect(this: Gauge | Counter) {
      this.reset();
      for (const { id, status } of catalog.list())
        if (status.kind === 'ready') this.inc(labelsOf(id), read(status.engine.health.stats));
      for (const { name: id, engine } of others.list()) this.inc(labelsOf(id), read(engine.health.stats));
    },
  });
  const gauge = (...metric: Parameters<typeof ofEngines>) => new Gauge(ofEngines(...metric));
  /** Counted by the engine itself, so it begins anew when its process does, as counters may. */
  const engineCounter = (...metric: Parameters<typeof ofEngines>) => new Counter(ofEngines(...metric));
  gauge('vllm:num_requests_running', 'Sequences that run now.', stats => stats.runningCount);
  gauge('vllm:num_requests_waiting', 'Sequences that wait for their start.', stats => stats.waitingCount);
  gauge(
    'vllm:kv_cache_usage_perc',
    'Share of the cache of keys and values that running sequences hold, 0 to 1.',
    stats => stats.cacheUsedShare,
  );
  engineCounter(
    'vllm:num_preemptions_total',
    'How often a sequence lost its place before its end.',
    stats => stats.preemptionCount,
  );
  engineCounter(
    'vllm:prefix_cache_queries_total',
    'Prompt tokens that were looked up in the prefix cache.',
    stats => stats.cacheQueryTokenCount,
  );
  engineCounter(
    'vllm:prefix_cache_hits_total',
    'Prompt tokens taken from the prefix cache.',
    stats => stats.cacheHitTokenCount,
  );
  engineCounter(
    'vllm:spec_decode_num_draft_tokens_total',
    'Tokens that were guessed ahead.',
    stats => stats.draftedTokenCount,
  );
  engineCounter(
    'vllm:spec_decode_num_accepted_tokens_total',
    'Tokens that were guessed ahead and right.',
    stats => stats.acceptedTokenCount,
  );
  engineCounter(
    'ortler:device_sampled_rows_total',
    'Rows of logits sampled on a device.',
    stats => stats.deviceSampling?.rowCount ?? 0,
  );
  engineCounter(
    'ortler:device_fetched_rows_total',
    'Those of them that had to be read as a whole.',
    stats => stats.deviceSampling?.fetchedRowCount ?? 0,
  );
  engineCounter(
    'ortler:device_read_bytes_total',
    'Bytes read from a device to sample.',
    stats => stats.deviceSampling?.readBytes ?? 0,
  );

  const promptTokens = counter('vllm:prompt_tokens_total', 'Prompt tokens of ended requests.');
  const generationTokens = counter('vllm:generation_tokens_total', 'Generated tokens of ended requests.');
  const success = new Counter({
    name: 'vllm:request_success_total',
    help: 'Ended choices by their reason; requests without one count as abort or error.',
    labelNames: [...labelNames, 'finished_reason'],
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

  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Answered HTTP requests by route and class of status.',
    labelNames: ['method', 'handler', 'status'],
    registers,
  });
  measureProcess(registry);

  function observePhases(labels: ReturnType<typeof labelsOf>, { timing, decodeMs }: GenerationReport): void {
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
    render: () => registry.metrics(),
    generationEnded(report: GenerationReport) {
      if (report.outcome === 'refused') return;
      const labels = labelsOf(report.modelId);
      promptTokens.inc(labels, report.promptTokenCount);
      generationTokens.inc(labels, report.completionTokenCount);
      for (const reason of endReasons(report)) success.inc({ ...labels, finished_reason: reason });
      if (report.firstTokenMs !== null) firstToken.observe(labels, report.firstTokenMs / 1000);
      const tokenMs = msPerToken(report);
      if (tokenMs !== null) timePerToken.observe(labels, tokenMs / 1000);
      latency.observe(labels, report.durationMs / 1000);
      observePhases(labels, report);
      promptLength.observe(labels, report.promptTokenCount);
      length.observe(labels, report.completionTokenCount);
    },
  };
}

type EngineStats = Engine['health']['stats'];

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

/** The server's own process, under the names that every exporter uses; models have processes of their own. */
function measureProcess(registry: Registry): void {
  const registers = [registry];
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Memory of the server process, without those of its models.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time of the server process, without those of its models.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1_000_000);
    },
  });
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'When the server process started, in seconds since 1970.',
    registers,
    collect() {
      this.set(performance.timeOrigin / 1000);
    },
  });
}
