// Public surface of @ortler/hub.

export { type LockOptions, withFileLock } from './cache/file-lock.ts';
export { type CachedEntry, listCachedModels } from './cache/list-models.ts';
export { type RemovedModel, type RemoveOptions, removeCachedModel } from './cache/remove-model.ts';
export type { GraphChoice } from './choose-files.ts';
export type { DownloadPlan } from './download/check-space.ts';
export type { DownloadProgress } from './download/progress-meter.ts';
export { HubError, type HubErrorCode } from './errors.ts';
export { fetchModel } from './fetch-model.ts';
export type { FetchedModel, FetchModelOptions, GraphFiles } from './fetch-options.ts';
export { formatBytes } from './format-bytes.ts';
export { type HubOptions, type HubSettings, isTrue, readHubSettings } from './hub-settings.ts';
export {
  formatModelReference,
  isModelReference,
  type ModelReference,
  parseModelReference,
} from './model-reference.ts';
export { type ModelSource, parseModelSource, requireModelSource, resolveModel } from './model-source.ts';
export { type ListedFile, type ModelListing, readModelListing } from './read-listing.ts';
