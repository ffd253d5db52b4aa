// The series of the metrics registry as one sample of the load. Pure. Caller: server-statistics.ts.

import type { Durations, LoadSample, ModelLoad } from '@ortler/api';

/** A metric with its values, as prom-client gives them. */
export interface MetricSeries {
  readonly name: string;
  readonly values: readonly {
    readonly value: number;
    readonly labels: Readonly<Partial<Record<string, string | number>>>;
    /** Of histograms: the name with `_bucket`, `_sum` or `_count`. */
    readonly metricName?: string;
  }[];
}

/** Reads the series. Models appear with their first values. */
export function toLoadSample(series: readonly MetricSeries[], atMs: number): LoadSample {
  const byName = new Map(series.map(metric => [metric.name, metric.values]));
  const valuesOf = (name: string) => byName.get(name) ?? [];
  const ids = new Set(
    [...valuesOf('vllm:num_requests_running'), ...valuesOf(GENERATED_TOKENS)].flatMap(({ labels }) =>
      labels.model_name === undefined ? [] : [String(labels.model_name)],
    ),
  );
  const numberOf = (name: string, id: string) =>
    valuesOf(name).find(({ labels }) => labels.model_name === id)?.value ?? 0;
  const durationsOf = (name: string, id: string): Durations => {
    const values = valuesOf(name).filter(({ labels }) => labels.model_name === id);
    const buckets = values.filter(({ labels }) => typeof labels.le === 'number');
    const only = (suffix: string) =>
      values.find(({ metricName }) => metricName === `${name}_${suffix}`)?.value ?? 0;
    return {
      bounds: buckets.map(({ labels }) => Number(labels.le)),
      counts: buckets.map(({ value }) => value),
      count: only('count'),
      sum: only('sum'),
    };
  };
  const loadOf = (id: string): ModelLoad => ({
    id,
    runningCount: numberOf('vllm:num_requests_running', id),
    waitingCount: numberOf('vllm:num_requests_waiting', id),
    cacheUsedShare: numberOf('vllm:kv_cache_usage_perc', id),
    cacheQueryTokenCount: numberOf('vllm:prefix_cache_queries_total', id),
    cacheHitTokenCount: numberOf('vllm:prefix_cache_hits_total', id),
    preemptionCount: numberOf('vllm:num_preemptions_total', id),
    promptTokenCount: numberOf('vllm:prompt_tokens_total', id),
    generatedTokenCount: numberOf(GENERATED_TOKENS, id),
    firstToken: durationsOf('vllm:time_to_first_token_seconds', id),
    tokenGap: durationsOf('vllm:inter_token_latency_seconds', id),
  });
  return {
    atMs,
    residentBytes: valuesOf('process_resident_memory_bytes')[0]?.value ?? 0,
    models: [...ids].map(loadOf),
    routes: valuesOf('http_requests_total').map(({ labels, value }) => ({
      method: String(labels.method),
      route: String(labels.handler),
      status: String(labels.status),
      count: value,
    })),
  };
}

/** Counted token by token, unlike `vllm:generation_tokens_total`, which counts ended requests. */
export const GENERATED_TOKENS = 'ortler:generated_tokens_total';
