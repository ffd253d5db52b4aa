// Prometheus metrics of the engines' own counters, collected at scrape time. Caller: `metrics.ts`.

import type { Engine } from '@ortler/engine';
import { Counter, Gauge, type Registry } from 'prom-client';

/** Labels of metrics per model. Source: vLLM. */
export const MODEL_LABELS = ['model_name', 'engine'] as const;

/** The values of `MODEL_LABELS`. */
export function toModelLabels(modelId: string): Record<(typeof MODEL_LABELS)[number], string> {
  return { model_name: modelId, engine: '0' };
}

/** A running engine. */
export interface NamedEngine {
  readonly name: string;
  readonly engine: Engine;
}

type EngineStats = Engine['health']['stats'];

/** Registers metrics of the engines that `list` returns at scrape time. */
export function measureEngines(registry: Registry, list: () => readonly NamedEngine[]): void {
  const registers = [registry];

  /** A metric collected at scrape time from the stats of every running engine. */
  const ofEngines = (name: string, help: string, read: (stats: EngineStats) => number) => ({
    name,
    help,
    labelNames: MODEL_LABELS,
    registers,
    collect(this: Gauge | Counter) {
      this.reset();
      for (const { name: id, engine } of list()) this.inc(toModelLabels(id), read(engine.health.stats));
    },
  });
  const gauge = (...metric: Parameters<typeof ofEngines>) => new Gauge(ofEngines(...metric));
  /** Counted by the engine, so it restarts at 0 with its process, as Prometheus counters may. */
  const engineCounter = (...metric: Parameters<typeof ofEngines>) => new Counter(ofEngines(...metric));
  gauge('vllm:num_requests_running', 'Running sequences.', stats => stats.runningCount);
  gauge('vllm:num_requests_waiting', 'Sequences waiting in the queue.', stats => stats.waitingCount);
  gauge(
    'vllm:kv_cache_usage_perc',
    'Share of the KV cache held by running sequences, 0 to 1.',
    stats => stats.cacheUsedShare,
  );
  engineCounter(
    'vllm:num_preemptions_total',
    'Preemptions of running sequences.',
    stats => stats.preemptionCount,
  );
  engineCounter(
    'vllm:prefix_cache_queries_total',
    'Prefix caching: prompt tokens looked up.',
    stats => stats.cacheQueryTokenCount,
  );
  engineCounter(
    'vllm:prefix_cache_hits_total',
    'Prefix caching: prompt tokens found in the cache.',
    stats => stats.cacheHitTokenCount,
  );
  engineCounter(
    'vllm:spec_decode_num_draft_tokens_total',
    'Speculative decoding: draft tokens.',
    stats => stats.draftedTokenCount,
  );
  engineCounter(
    'vllm:spec_decode_num_accepted_tokens_total',
    'Speculative decoding: accepted draft tokens.',
    stats => stats.acceptedTokenCount,
  );
  engineCounter(
    'ortler:device_sampled_rows_total',
    'Rows of logits sampled on the GPU.',
    stats => stats.deviceSampling?.rowCount ?? 0,
  );
  engineCounter(
    'ortler:device_fetched_rows_total',
    'Rows sampled on the GPU whose logits had to be copied to the CPU.',
    stats => stats.deviceSampling?.fetchedRowCount ?? 0,
  );
  engineCounter(
    'ortler:device_read_bytes_total',
    'Bytes copied from the GPU for sampling.',
    stats => stats.deviceSampling?.readBytes ?? 0,
  );
}
