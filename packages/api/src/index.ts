// Public surface of @ortler/api: the router over its ports, the errors, and the context that transports build.

export { type AppRouter, createAppRouter } from './app-router.ts';
export { REASONING_PARSERS, type ReasoningParser } from './chat/reasoning/reasoning-format.ts';
export { isAsyncIterable } from './chunk-stream.ts';
export {
  ApiError,
  type ApiErrorCode,
  ERROR_TABLE,
  type PublicError,
  toPublicError,
} from './errors.ts';
export type {
  AnnotationQueueStore,
  AnnotationServices,
  AnnotationSpec,
  AnnotationSpecStore,
} from './feedback/annotation-services.ts';
export type {
  FeedbackPage,
  FeedbackRecord,
  FeedbackStore,
  InsertedFeedback,
} from './feedback/feedback-services.ts';
export { type RecordContext, toFeedbackRecord } from './feedback/to-feedback-record.ts';
export { invalidInput } from './report-faults.ts';
export { listRestRoutes, type RestRoute } from './rest-routes.ts';
export type { BytesInput } from './routers/training-trajectories.ts';
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
} from './services.ts';
export { homeEntity, mayReach } from './team.ts';
export { meanOf } from './training/metric-tallies.ts';
export {
  parseCheckpointReference,
  parseModelReference,
  toCheckpointReference,
  toModelReference,
} from './training/model-reference.ts';
export type {
  CheckpointListOptions,
  CheckpointStore,
  CheckpointWeights,
  GroupRecord,
  MeanTally,
  ServableCheckpoint,
  SplitMetric,
  StoredCheckpoint,
  StoredTrajectory,
  StoredTrajectoryLog,
  TrainingModel,
  TrainingModelName,
  TrainingModelStore,
  TrainingServices,
  TrajectoryFilter,
  TrajectoryLog,
  TrajectoryRecord,
  TrajectorySpool,
  TrajectoryStore,
  WeightsFolders,
} from './training/training-services.ts';
export { type ApiContext, type Credentials, type ProcedureMeta, requireBearer } from './trpc.ts';
