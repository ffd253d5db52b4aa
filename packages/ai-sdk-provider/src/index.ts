// Public surface of @ortler/ai-sdk-provider.

export type { EngineSource, GenerationEngine } from './generation-engine.ts';
export { type OrtlerModelSettings, ortler } from './ortler.ts';
export type { OrtlerProviderOptions } from './provider-options.ts';
export type { OrtlerCandidateLogprob, OrtlerMetadata, OrtlerTokenLogprob } from './response-metadata.ts';
