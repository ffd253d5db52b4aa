// Prometheus metrics that describe engines, and the histogram that each engine keeps itself. Names are vLLM's. Caller: `metrics.ts`.

import { type Engine, STEP_SIZE_BOUNDS } from '@ortler/engine';
import { Gauge, type Registry } from 'prom-client';
import { type NamedEngine, toModelLabels } from './engine-metrics.ts';

const CACHE_LABELS = [
  'model_name',
  'engine',
  'cache_dtype',
  'block_size',
  'num_gpu_blocks',
  'enable_prefix_caching',
  'max_num_seqs',
  'max_model_len',
] as const;

export interface EngineInfoOptions {
  readonly list: () => readonly NamedEngine[];
  readonly isPrefixCaching: boolean;
  /** Loaded checkpoints by their names; null where metrics name none. */
  readonly checkpoints: (() => readonly NamedEngine[]) | null;
  /** Maximum number of checkpoints in memory. */
  readonly maxCheckpoints: number;
}

/** Registers `cache_config_info` and, where checkpoints may be named, `lora_requests_info`. */
export function describeEngines(registry: Registry, options: EngineInfoOptions): void {
  const { list, isPrefixCaching, checkpoints, maxCheckpoints } = options;
  new Gauge({
    name: 'vllm:cache_config_info',
    help: 'KV cache of a model: always 1. A block is the unit in which prompts are found again; slots are counted in the same unit.',
    labelNames: CACHE_LABELS,
    registers: [registry],
    collect() {
      this.reset();
      for (const { name, engine } of list())
        this.set({ ...toModelLabels(name), ...toCacheLabels(engine, isPrefixCaching) }, 1);
    },
  });
  if (checkpoints === null) return;
  new Gauge({
    name: 'vllm:lora_requests_info',
    help: 'Checkpoints with running and with waiting requests; the value is the time, in seconds since 1970.',
    labelNames: ['max_lora', 'running_lora_adapters', 'waiting_lora_adapters'],
    registers: [registry],
    collect() {
      this.reset();
      const loaded = checkpoints();
      const namesOf = (isBusy: (stats: Engine['health']['stats']) => boolean) =>
        loaded
          .filter(({ engine }) => isBusy(engine.health.stats))
          .map(({ name }) => name)
          .join(',');
      const labels = {
        max_lora: String(maxCheckpoints),
        running_lora_adapters: namesOf(({ runningCount }) => runningCount > 0),
        waiting_lora_adapters: namesOf(({ waitingCount }) => waitingCount > 0),
      };
      this.set(labels, Date.now() / 1000);
    },
  });
}

function toCacheLabels({ info }: Engine, isPrefixCaching: boolean) {
  const { kvType, maxSequences, contextLength, cacheBlockLength, cacheBlockCount } = info;
  return {
    cache_dtype: kvType,
    block_size: String(cacheBlockLength),
    num_gpu_blocks: String(cacheBlockCount),
    enable_prefix_caching: isPrefixCaching ? 'True' : 'False',
    max_num_seqs: String(maxSequences),
    max_model_len: String(contextLength),
  };
}

/** `iteration_tokens_total` in Prometheus' text format: its counts come from the engines, so nothing is observed here. */
export function printStepSizes(engines: readonly NamedEngine[]): string {
  const name = 'vllm:iteration_tokens_total';
  const lines = [
    `# HELP ${name} Tokens of one step, of prompts and answers together.`,
    `# TYPE ${name} histogram`,
  ];
  for (const { name: modelName, engine } of engines) {
    const { counts, tokenCount } = engine.health.stats.stepSizes;
    const labels = `model_name=${JSON.stringify(modelName)},engine="0"`;
    let sum = 0;
    for (const [index, count] of counts.entries()) {
      sum += count;
      lines.push(`${name}_bucket{le="${STEP_SIZE_BOUNDS[index] ?? '+Inf'}",${labels}} ${sum}`);
    }
    lines.push(`${name}_sum{${labels}} ${tokenCount}`, `${name}_count{${labels}} ${sum}`);
  }
  return `${lines.join('\n')}\n`;
}
