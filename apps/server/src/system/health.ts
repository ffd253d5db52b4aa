// What /health says: the true state of every model at this moment, and of databases that may fail alone.

import type { CatalogModel, ModelCatalog } from '@ortler/api';
import type { DeviceChoice } from '@ortler/onnxruntime';
import type { DatabaseState } from './database-checks.ts';

export type ModelState = 'loading' | 'ready' | 'restarting' | 'failed';

/** Where the models run. */
export interface DeviceReport {
  readonly kind: DeviceChoice['device'];
  readonly name?: string;
  readonly memory_bytes?: number;
  /** Largest part of one tensor that a kernel can reach. */
  readonly max_tensor_bytes?: number;
  /** A driver that computes on the processor. */
  readonly is_software?: boolean;
  /** Why it is not another one. */
  readonly detail?: string;
}

export interface HealthReport {
  /** `ok`: every model answers; `degraded`: some do; `loading`: none yet; `unavailable`: none. */
  readonly status: 'ok' | 'degraded' | 'loading' | 'unavailable';
  /** Absent until the first model is prepared. */
  readonly device?: DeviceReport;
  readonly models: readonly { readonly id: string; readonly state: ModelState; readonly detail?: string }[];
  /** Databases besides the one that everything needs. Their state says nothing about the models, so it is no part of `status`. */
  readonly databases?: readonly DatabaseState[];
}

/** Looks at every model. The server is fit for requests when the status is `ok` or `degraded`. */
export function reportHealth(
  catalog: ModelCatalog,
  {
    device,
    databases = [],
  }: { readonly device?: DeviceChoice | undefined; readonly databases?: readonly DatabaseState[] } = {},
): HealthReport {
  return {
    ...reportModels(catalog),
    ...(device && { device: toDeviceReport(device) }),
    ...(databases.length > 0 && { databases }),
  };
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

function toDeviceReport({ device, facts = { device }, note }: DeviceChoice): DeviceReport {
  const { name, memoryBytes, maxTensorBytes, isSoftware } = facts;
  return {
    kind: device,
    ...(name !== undefined && { name }),
    ...(memoryBytes !== undefined && { memory_bytes: memoryBytes }),
    ...(maxTensorBytes !== undefined && { max_tensor_bytes: maxTensorBytes }),
    ...(isSoftware !== undefined && { is_software: isSoftware }),
    ...(note !== undefined && { detail: note }),
  };
}

function stateOf({ status }: CatalogModel): { state: ModelState; detail?: string } {
  if (status.kind === 'loading') return { state: 'loading', detail: status.detail };
  if (status.kind === 'restarting') {
    const seconds = Math.ceil(status.retryAfterMs / 1000);
    const detail = `${status.detail} within ${seconds} s; the server log has the reason`;
    return { state: 'restarting', detail };
  }
  // Why a model failed stands in the log: the text may name files of this machine.
  if (status.kind === 'failed') return { state: 'failed', detail: 'The server log has the reason.' };
  const { state, restartCount } = status.engine.health;
  if (state === 'closed') return { state: 'failed', detail: 'closed' };
  const { deviceNote } = status.engine.info;
  const details = [
    ...(restartCount > 0 ? [`restarted ${restartCount} ${restartCount === 1 ? 'time' : 'times'}`] : []),
    ...(deviceNote === undefined ? [] : [deviceNote]),
  ];
  return details.length > 0 ? { state, detail: details.join('; ') } : { state };
}
