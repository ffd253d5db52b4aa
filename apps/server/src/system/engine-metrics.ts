// What the engines count themselves, read at scrape time. Caller: `metrics.ts`.

import type { Engine } from '@ortler/engine';
import { Counter, Gauge, type Registry } from 'prom-client';

/** Labels of everything that is about one model. Source: vLLM. */
export const MODEL_LABELS = ['model_name', 'engine'] as const;

/** The values of `MODEL_LABELS`. */
export function toModelLabels(modelId: string): Record<(typeof MODEL_LABELS)[number], string> {
  return { model_name: modelId, engine: '0' };
}

/** An engine that runs. */
export interface NamedEngine {
  readonly name: string;
  readonly engine: Engine;
}

type EngineStats = Engine['health']['stats'];

/** Adds the metrics of the engines that `list` gives when they are asked for. */
export function measureEngines(registry: Registry, list: () => readonly NamedEngine[]): void {
  const registers = [registry];

  /** A metric that gives, when it is asked, what every engine that runs says of itself then. */
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
}
