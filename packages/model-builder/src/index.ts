// Public surface of @ortler/model-builder.

export { type BuildModelOptions, type BuildProgress, buildModel } from './build-model.ts';
export { type EnsureModelOptions, ensureModel } from './ensure-model.ts';
export { ModelBuildError, type ModelBuildErrorCode, type ModelBuildErrorDetails } from './errors.ts';
export { type ExportedFiles, type ExportedGraph, findExports } from './exported/find-exports.ts';
