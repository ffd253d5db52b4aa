// Public surface of @ortler/model-builder.

export type { GraphVariant, KvType, Precision } from '@ortler/engine/graph-contract';
export type { CudaNorms } from './architectures/cuda-norms.ts';
export { buildModel } from './build-model.ts';
export type { BuildModelOptions, BuildProgress } from './build-options.ts';
export {
  type ChooseExportFilesOptions,
  chooseExportFiles,
  type ExportChoice,
  type PublishedFiles,
} from './choose-export-files.ts';
export {
  type AutoPrecision,
  choosePrecision,
  explainPrecision,
  type PrecisionChoice,
} from './choose-precision.ts';
export { explainPrecisionFault } from './content-hash.ts';
export { type EnsureModelOptions, ensureModel } from './ensure-model.ts';
export { ModelBuildError, type ModelBuildErrorCode, type ModelBuildErrorDetails } from './errors.ts';
export { explainCacheFault } from './explain-cache-fault.ts';
export { describeLongRope, explainLongRope } from './explain-long-rope.ts';
export { explainLoss } from './explain-loss.ts';
export { explainUnwritable } from './explain-unwritable.ts';
export type { FileTypes } from './file-types.ts';
export { type DescribeModelOptions, describeModel } from './inspect/describe-model.ts';
export { estimateMemory, type MemoryEstimate } from './inspect/estimate-memory.ts';
export type { DescribedGraph, FormatUse, ModelDescription, ModelShape } from './inspect/model-description.ts';
export { type RemoteFiles, writeHeaders } from './inspect/write-headers.ts';
export { checkAdapter } from './lora/check-adapter.ts';
export { type PrepareModelOptions, prepareModel } from './prepare-model.ts';
export {
  type BuiltFolder,
  markBuildUsed,
  type PruneOptions,
  type PruneResult,
  type PruneRule,
  pruneBuilds,
} from './prune-builds.ts';
export { settleVariant, type VariantChoice } from './settle-variant.ts';
export type { WrittenMatrix } from './weights/written-matrix.ts';
