// Public surface of @ortler/api: the router over its ports, the errors, and the context that transports build.

export { type AppRouter, createAppRouter } from './app-router.ts';
export { BodyCounts } from './body/body-counts.ts';
export { parseJsonBody } from './body/parse-json-body.ts';
export { type RecordContext, toFeedbackRecord } from './feedback/to-feedback-record.ts';
export { readPartitionSalt } from './generation/cache-partition.ts';
export { NO_LIMITS, RateLimiter, type RateLimiterOptions } from './limits/rate-limiter.ts';
export { type AccountUse, type PastUse, REMEMBERED_MS } from './limits/shared-use.ts';
export type {
  AnnotationQueueStore,
  AnnotationServices,
  AnnotationSpec,
  AnnotationSpecStore,
} from './ports/annotation-services.ts';
export {
  type FeedbackBodies,
  type FeedbackBodyKind,
  type FeedbackContent,
  type FeedbackDraft,
  type FeedbackDrafts,
  type FeedbackPage,
  type FeedbackReading,
  type FeedbackRecord,
  type FeedbackStore,
  type InsertedFeedback,
  parseRows,
} from './ports/feedback-services.ts';
export type { AdmittedRequest, RateLimiting, RateLimits } from './ports/rate-limiting.ts';
export type { ResponseStore, StoredResponse } from './ports/response-services.ts';
export type {
  CatalogModel,
  CheckpointModel,
  CheckpointModels,
  CredentialVerifier,
  EngineLease,
  GenerationObserver,
  GenerationReport,
  ModelCatalog,
  ModelIdentity,
  ModelStatus,
  Principal,
  ServedModel,
  Services,
  UpstreamModel,
} from './ports/services.ts';
export type {
  Durations,
  KeyDirectory,
  KeyFacts,
  LimitFact,
  LoadSample,
  ModelFacts,
  ModelLoad,
  RouteCount,
  ServerFacts,
  ServerStatistics,
} from './ports/statistics-services.ts';
export type {
  CheckpointListOptions,
  CheckpointStore,
  CheckpointWeights,
  GroupRecord,
  MeanTally,
  ReadTrajectoryLog,
  ServableCheckpoint,
  SplitMetric,
  SpooledTrajectoryLog,
  StoredCheckpoint,
  StoredTrajectory,
  StoredTrajectoryLog,
  TrainingModel,
  TrainingModelName,
  TrainingModelStore,
  TrainingServices,
  TrajectoryFilter,
  TrajectoryLog,
  TrajectoryLogOptions,
  TrajectoryRecord,
  TrajectorySpool,
  TrajectoryStore,
  WeightsFolders,
} from './ports/training-services.ts';
export {
  USAGE_GROUPS,
  type UsageGroup,
  type UsageQuery,
  type UsageRecord,
  type UsageStore,
  type UsageSum,
} from './ports/usage-services.ts';
export { releaseBytes } from './release-bytes.ts';
export { listRestRoutes, type RestRoute } from './rest-routes.ts';
export { homeEntity, mayReach } from './team.ts';
export { meanOf } from './training/metric-tallies.ts';
export {
  parseCheckpointReference,
  parseModelReference,
  toCheckpointReference,
  toModelReference,
} from './training/model-reference.ts';
export type { BytesInput } from './trpc/bytes-input.ts';
export { isAsyncIterable } from './trpc/chunk-stream.ts';
export {
  ApiError,
  type ApiErrorCode,
  ERROR_TABLE,
  type PublicError,
  toPublicError,
} from './trpc/errors.ts';
export { tooDeep } from './trpc/int64-transformer.ts';
export { JsonText } from './trpc/json-text.ts';
export { MAX_BATCH_CALLS } from './trpc/max-batch-calls.ts';
export { IGNORED_FIELDS_HEADER } from './trpc/name-ignored-fields.ts';
export { invalidInput } from './trpc/report-faults.ts';
export {
  type ApiContext,
  type Credentials,
  type ProcedureMeta,
  requireAnyKey,
  requireBearer,
  toPublicCallError,
} from './trpc/trpc.ts';
export { untagInTurns } from './trpc/untag-in-turns.ts';
