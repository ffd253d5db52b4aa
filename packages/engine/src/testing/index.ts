// Test doubles and conformance suites for packages that build on the engine, and the token side by itself for
// tests and benchmarks that look below the text.

export type { EngineCoreSettings } from '../core/core-settings.ts';
export { type CoreOutput, EngineCore } from '../core/engine-core.ts';
export { loadCore } from '../core/load-core.ts';
export { createDeviceSlotsRunner } from '../core/model/device-slots-runner.ts';
export type {
  BlockModelRunner,
  ModelRunner,
  RunnerFacts,
  RunnerRow,
  SlotModelRunner,
} from '../core/model/model-runner.ts';
export {
  createPagedRunner,
  type PagedRunner,
  type PagedRunnerOptions,
} from '../core/model/paged-runner.ts';
export { readManifest } from '../core/model/read-manifest.ts';
export { createSlotsRunner, type SlotsRunnerOptions } from '../core/model/slots-runner.ts';
export { counterKey } from '../core/sampling/counter-random.ts';
export { PlainKernels } from '../core/sampling/kernels/plain-kernels.ts';
export { Sampler, type SamplingStep } from '../core/sampling/sampler.ts';
export { createHostStepSampler } from '../core/sampling/step-sampler.ts';
export { SamplingThreads } from '../core/sampling/threads/sampling-threads.ts';
export type { Drafter } from '../core/speculation/drafter.ts';
export { startEngine } from '../create-engine.ts';
export { createProcessLink } from '../link/process-link.ts';
export { serveProcess } from '../link/serve-process.ts';
export type { CoreFacts, SubmitMessage } from '../protocol/messages.ts';
export type { CoreOptions, TuningOptions } from '../protocol/options.ts';
export { toCoreOptions } from '../protocol/to-core-options.ts';
export { NEUTRAL_SAMPLING } from '../request/sampling-params.ts';
export type { TokenLogprobs } from '../request/token-logprobs.ts';
export { type LoadedVocabulary, loadVocabulary } from './load-vocabulary.ts';
export { ScriptedBlockModel, type ScriptedBlockModelOptions } from './scripted-block-model.ts';
export {
  hashTokens,
  ScriptedModel,
  type ScriptedModelOptions,
  scriptedLogits,
} from './scripted-model.ts';
