// What /health says: the true state of every model at this moment, and of databases that may fail alone.

import type { CatalogModel, ModelCatalog } from '@ortler/api';
import type { DatabaseState } from './database-checks.ts';

export type ModelState = 'loading' | 'ready' | 'restarting' | 'failed';

export interface HealthReport {
  /** `ok`: every model answers; `degraded`: some do; `loading`: none yet; `unavailable`: none. */
  readonly status: 'ok' | 'degraded' | 'loading' | 'unavailable';
  readonly models: readonly { readonly id: string; readonly state: ModelState; readonly detail?: string }[];
  /** Databases besides the one that everything needs. Their state says nothing about the models, so it is no part of `status`. */
  readonly databases?: readonly DatabaseState[];
}

/** Looks at every model. The server is fit for requests when the status is `ok` or `degraded`. */
export function reportHealth(catalog: ModelCatalog, databases: readonly DatabaseState[] = []): HealthReport {
  const report = reportModels(catalog);
  return databases.length === 0 ? report : { ...report, databases };
}

function reportModels(catalog: ModelCatalog): HealthReport {
  const models = catalog.list().map(model => ({ id: model.id, ...stateOf(model) }));
  const isReady = (model: { state: ModelState }) => model.state === 'ready';
  if (models.every(isReady)) return { status: 'ok', models };
  if (models.some(isReady)) return { status: 'degraded', models };
  const isComing = models.some(({ state }) => state === 'loading');
  return { status: isComing ? 'loading' : 'unavailable', models };
}

/** Whether requests should be sent here. */
export function isServing({ status }: HealthReport): boolean {
  return status === 'ok' || status === 'degraded';
}

function stateOf({ status }: CatalogModel): { state: ModelState; detail?: string } {
  if (status.kind === 'loading') return { state: 'loading', detail: status.detail };
  // Why a model failed stands in the log: the text may name files of this machine.
  if (status.kind === 'failed') return { state: 'failed', detail: 'The server log has the reason.' };
  const { state, restartCount } = status.engine.health;
  if (state === 'closed') return { state: 'failed', detail: 'closed' };
  return restartCount > 0 ? { state, detail: `restarted ${restartCount} times` } : { state };
}
