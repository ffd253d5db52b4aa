// The reports of /health and /health/ready: the current state of every model, the device, the disk and the databases.

import type { CatalogModel, ModelCatalog, UpstreamModel } from '@ortler/api';
import type { DeviceChoice } from '@ortler/onnxruntime';
import type { BreakerState } from '@ortler/upstream';
import type { DiskReport } from './check-disk.ts';
import type { DatabaseState, StorageReport } from './storage-checks.ts';

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

export interface ModelHealth {
  readonly id: string;
  readonly state: ModelState;
  readonly detail?: string;
  /**
   * Only for a model that other servers answer for: each server, in the order of the configuration, without
   * its address.
   */
  readonly servers?: readonly {
    /** Circuit breaker: `closed` takes requests, `half_open` one, `open` none. */
    readonly breaker: BreakerState;
    readonly open_requests: number;
  }[];
}

export interface HealthReport {
  /**
   * `ok`: every model answers and storage is sound; `degraded`: some models answer, or storage has a fault; `loading`: no model
   * yet; `unavailable`: no model; `stopping`: requests should go elsewhere.
   */
  readonly status: 'ok' | 'degraded' | 'loading' | 'unavailable' | 'stopping';
  /** Absent until the first model is prepared. */
  readonly device?: DeviceReport;
  readonly models: readonly ModelHealth[];
  /** The disk of the data folder. */
  readonly disk?: DiskReport;
  /** The main database first. */
  readonly databases?: readonly DatabaseState[];
}

export interface HealthFacts {
  readonly device?: DeviceChoice | undefined;
  readonly storage?: StorageReport | undefined;
  /** Whether the server has received a stop signal. */
  readonly isStopping?: boolean;
}

/** Reports the state of every model and of storage. */
export function reportHealth(
  catalog: ModelCatalog,
  { device, storage, isStopping = false }: HealthFacts = {},
): HealthReport {
  const models = reportModels(catalog);
  const isDegraded = models.status === 'ok' && storage !== undefined && hasFault(storage);
  return {
    ...models,
    ...(isDegraded && { status: 'degraded' as const }),
    ...(isStopping && { status: 'stopping' as const }),
    ...(device && { device: toDeviceReport(device) }),
    ...(storage?.disk && { disk: storage.disk }),
    ...(storage && storage.databases.length > 0 && { databases: storage.databases }),
  };
}

function hasFault({ disk, databases }: StorageReport): boolean {
  return (disk !== undefined && disk.state !== 'ok') || databases.some(({ state }) => state !== 'ready');
}

function reportModels(catalog: ModelCatalog): HealthReport {
  const models = catalog.list().map(model => ({ id: model.id, ...stateOf(model) }));
  const isReady = (model: { state: ModelState }) => model.state === 'ready';
  if (models.every(isReady)) return { status: 'ok', models };
  if (models.some(isReady)) return { status: 'degraded', models };
  const isComing = models.some(({ state }) => state === 'loading');
  return { status: isComing ? 'loading' : 'unavailable', models };
}

/** Whether some model answers. */
export function isServing({ status }: HealthReport): boolean {
  return status === 'ok' || status === 'degraded';
}

export interface ReadinessReport {
  readonly status: 'ready' | 'not_ready' | 'stopping';
  /** What is missing. */
  readonly missing?: readonly ('models' | 'database')[];
}

/** Whether a load balancer should send requests here: some model answers, and so does the main database. */
export function reportReadiness(
  catalog: ModelCatalog,
  { isMainReady }: StorageReport,
  isStopping = false,
): ReadinessReport {
  if (isStopping) return { status: 'stopping' };
  const missing: ('models' | 'database')[] = [];
  if (!isServing(reportModels(catalog))) missing.push('models');
  if (!isMainReady) missing.push('database');
  return missing.length === 0 ? { status: 'ready' } : { status: 'not_ready', missing };
}

/** Addresses of other servers stay in the log, because anyone may read this report. */
function upstreamStateOf({ state, servers }: UpstreamModel): Omit<ModelHealth, 'id'> {
  const details = {
    loading: 'its servers are being asked for their models',
    ready: undefined,
    restarting: 'no server of the model can be asked now; the server log has the reason',
  };
  const detail = details[state];
  return {
    state,
    ...(detail !== undefined && { detail }),
    servers: servers.map(({ breaker, openCount }) => ({ breaker, open_requests: openCount })),
  };
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

function stateOf({ status }: CatalogModel): Omit<ModelHealth, 'id'> {
  if (status.kind === 'upstream') return upstreamStateOf(status.upstream);
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
  const { deviceNote, memoryNote, templateNote } = status.engine.info;
  const details: string[] = [];
  if (restartCount > 0) details.push(`restarted ${restartCount} ${restartCount === 1 ? 'time' : 'times'}`);
  if (deviceNote !== undefined) details.push(deviceNote);
  if (memoryNote !== undefined) details.push(memoryNote);
  if (templateNote !== undefined) details.push(templateNote);
  return details.length > 0 ? { state, detail: details.join('; ') } : { state };
}
