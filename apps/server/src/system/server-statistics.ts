// Statistics of this server for its console: facts from the settings and the models, samples from the metrics registry.

import { setTimeout as delay } from 'node:timers/promises';
import type { ModelCatalog, ModelFacts, ServerStatistics } from '@ortler/api';
import type { Engine } from '@ortler/engine';
import type { Config } from '../config/config.ts';
import { SETTINGS } from '../config/settings.ts';
import type { NamedEngine } from './engine-metrics.ts';
import { toLoadSample } from './load-sample.ts';
import type { Metrics } from './metrics.ts';
import { ownCommand } from './own-command.ts';
import { VERSION } from './version.ts';

export interface ServerStatisticsOptions {
  readonly config: Config;
  readonly catalog: ModelCatalog;
  /** Checkpoints in memory. */
  readonly checkpoints: {
    list(): readonly NamedEngine[];
    listLoading(): readonly { readonly name: string; readonly detail: string }[];
  };
  readonly metrics: Pick<Metrics, 'readSeries'>;
  /** Unit: milliseconds since 1970. */
  readonly now: () => number;
  /** Fires when the server begins to stop: live views must not delay that. */
  readonly stopping: AbortSignal;
}

const SAMPLE_INTERVAL_MS = 1_000;

/** Settings that limit what callers may do. None is a secret or a path. */
const LIMITS = [
  'contextLength',
  'maxSequences',
  'maxQueued',
  'maxLoadedCheckpoints',
  'bodyLimitBytes',
  'logBodyLimitBytes',
  'stalledReaderMs',
  'stepTimeoutMs',
  'queryTimeLimitMs',
  'responseRetentionDays',
  'constraintTimeLimitMs',
  'constraintSizeBytes',
  'constraintDepth',
  'constraintValues',
] as const satisfies readonly (keyof typeof SETTINGS)[];

export function createServerStatistics(options: ServerStatisticsOptions): ServerStatistics {
  const { config, catalog, checkpoints, metrics, now, stopping } = options;
  const startedAtMs = now();
  return {
    facts: () => ({
      version: VERSION,
      command: ownCommand('').trimEnd(),
      startedAtMs,
      toolCalling: config.toolCalling === 'on',
      limits: LIMITS.map(name => ({
        flag: SETTINGS[name].flag,
        description: SETTINGS[name].description,
        value: String(config[name] ?? ''),
      })),
      models: [
        ...catalog.list().map(toModelFacts),
        ...checkpoints
          .list()
          .map(({ name, engine }) => ({ ...engineFacts(name, engine), kind: 'checkpoint' as const })),
        ...checkpoints.listLoading().map(({ name, detail }) => ({
          id: name,
          kind: 'checkpoint' as const,
          state: 'loading' as const,
          detail,
          engine: null,
          upstream: null,
        })),
      ],
    }),

    async *samples(signal) {
      const ended = AbortSignal.any([signal, stopping]);
      while (!ended.aborted) {
        yield toLoadSample(await metrics.readSeries(), now());
        await delay(SAMPLE_INTERVAL_MS, undefined, { signal: ended }).catch(() => undefined);
      }
    },
  };
}

function toModelFacts({ id, status }: ReturnType<ModelCatalog['list']>[number]): ModelFacts {
  if (status.kind === 'ready') return { ...engineFacts(id, status.engine), kind: 'own' };
  if (status.kind === 'upstream') {
    const { state, name, contextLength, servers } = status.upstream;
    const detail = state === 'restarting' ? 'no server can be asked now' : '';
    const counts = servers.map(({ breaker, openCount }) => ({ breaker, openCount }));
    return {
      id,
      kind: 'upstream',
      state,
      detail,
      engine: null,
      upstream: { name, contextLength, servers: counts },
    };
  }
  return { id, kind: 'own', state: status.kind, detail: status.detail, engine: null, upstream: null };
}

function engineFacts(id: string, { info, health }: Engine): Omit<ModelFacts, 'kind'> {
  const state = health.state === 'closed' ? 'failed' : health.state;
  return {
    id,
    state,
    detail: state === 'ready' ? '' : (health.lastError?.message ?? ''),
    engine: {
      modelType: info.modelType,
      parameterCount: info.parameterCount,
      precision: info.precision,
      kvType: info.kvType,
      device: info.device,
      contextLength: info.contextLength,
      maxSequences: info.maxSequences,
      weightBytes: info.weightBytes,
      cacheBytes: info.cacheBytes,
      restartCount: health.restartCount,
    },
    upstream: null,
  };
}
