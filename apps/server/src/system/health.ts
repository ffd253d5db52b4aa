// The report of /health: the current state of every model, the device, and databases that may fail independently.

import type { CatalogModel, ModelCatalog } from '@ortler/api';
import type { DeviceChoice } from '@ortler/onnxruntime';
import type { DatabaseState } from './database-checks.ts';

export type ModelState = 'loading' | 'ready' | 'restarting' | 'failed';

/** The device of the models. Unknown facts are left out of the JSON. */
export interface DeviceReport {
  readonly kind: DeviceChoice['device'];
  readonly name: string | undefined;
  readonly memory_bytes: number | undefined;
  /** Largest binding of a tensor in a kernel. */
  readonly max_tensor_bytes: number | undefined;
  /** A software driver, which computes on the CPU. */
  readonly is_software: boolean | undefined;
  /** Why no other device was chosen. */
  readonly detail: string | undefined;
}

export interface HealthReport {
  /** `ok`: every model answers; `degraded`: some do; `loading`: none yet; `unavailable`: none. */
  readonly status: 'ok' | 'degraded' | 'loading' | 'unavailable';
  /** Absent until the first model is prepared. */
  readonly device?: DeviceReport;
  readonly models: readonly { readonly id: string; readonly state: ModelState; readonly detail?: string }[];
  /** Databases besides the main one. They do not affect `status`, because the models do not depend on them. */
  readonly databases?: readonly DatabaseState[];
}

/** Reports the state of every model. The server should get requests when the status is `ok` or `degraded`. */
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

/** Whether a load balancer should send requests here. */
export function isServing({ status }: HealthReport): boolean {
  return status === 'ok' || status === 'degraded';
}

function toDeviceReport({ device, facts = { device }, note }: DeviceChoice): DeviceReport {
  const { name, memoryBytes, maxTensorBytes, isSoftware } = facts;
  return {
    kind: device,
    name,
    memory_bytes: memoryBytes,
    max_tensor_bytes: maxTensorBytes,
    is_software: isSoftware,
    detail: note,
  };
}

function stateOf({ status }: CatalogModel): { state: ModelState; detail?: string } {
  if (status.kind === 'loading') return { state: 'loading', detail: status.detail };
  if (status.kind === 'restarting') {
    const seconds = Math.ceil(status.retryAfterMs / 1000);
    const detail = `${status.detail} within ${seconds} s; the server log has the reason`;
    return { state: 'restarting', detail };
  }
  // The reason goes to the log only, because it may name files of the server.
  if (status.kind === 'failed') return { state: 'failed', detail: 'The server log has the reason.' };
  const { state, restartCount } = status.engine.health;
  if (state === 'closed') return { state: 'failed', detail: 'closed' };
  const { deviceNote } = status.engine.info;
  const details: string[] = [];
  if (restartCount > 0) details.push(`restarted ${restartCount} ${restartCount === 1 ? 'time' : 'times'}`);
  if (deviceNote !== undefined) details.push(deviceNote);
  return details.length > 0 ? { state, detail: details.join('; ') } : { state };
}
