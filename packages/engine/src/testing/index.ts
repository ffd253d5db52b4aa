// Test doubles for packages that build on the engine, and the token side by itself for tests and benchmarks on token ids.

export type { EngineCoreSettings } from '../core/core-settings.ts';
export { type CoreOutput, EngineCore } from '../core/engine-core.ts';
export { loadCore } from '../core/load-core.ts';
export { readManifest } from '../core/manifest/read-manifest.ts';
export { allocateRows } from '../core/row-memory/row-memory.ts';
export { createDeviceSlotsRunner } from '../core/runners/device-slots/device-slots-runner.ts';
export type {
  BlockModelRunner,
  ModelRunner,
  RunnerFacts,
  RunnerRow,
  SlotModelRunner,
} from '../core/runners/model-runner.ts';
export {
  createPagedRunner,
  type PagedRunner,
  type PagedRunnerOptions,
} from '../core/runners/paged/paged-runner.ts';
export { createSlotsRunner, type SlotsRunnerOptions } from '../core/runners/slots/slots-runner.ts';
export { counterKey } from '../core/sampling/counter-random.ts';
export { PlainKernels } from '../core/sampling/kernels/plain-kernels.ts';
export { Sampler, type SamplingStep } from '../core/sampling/sampler.ts';
export { SamplingThreads } from '../core/sampling/threads/sampling-threads.ts';
export type { Drafter } from '../core/speculative-decoding/drafter.ts';
export { HostStepRunner } from '../core/step/host-step-runner.ts';
export type { StepRunner } from '../core/step/step-runner.ts';
export { startEngine } from '../create-engine.ts';
export { createInProcessLink } from '../link/in-process-link.ts';
export { createProcessLink } from '../link/process-link.ts';
export { serveProcess } from '../link/serve-process.ts';
export { toCoreOptions } from '../protocol/engine-options.ts';
export type { CoreFacts, SubmitMessage } from '../protocol/messages.ts';
export type { CoreOptions, TuningOptions } from '../protocol/options.ts';
export { NEUTRAL_SAMPLING } from '../request/sampling-params.ts';
export type { TokenLogprobs } from '../request/token-logprobs.ts';
export { type LoadedVocabulary, loadVocabulary } from './load-vocabulary.ts';
export { ScriptedBlockModel, type ScriptedBlockModelOptions } from './scripted-block-model.ts';
export { loadScriptedCore, SCRIPTED_CORE_OPTIONS, type ScriptedCoreSettings } from './scripted-core.ts';
export { SCRIPTED_MANIFEST } from './scripted-manifest.ts';
export {
  hashTokens,
  ScriptedModel,
  type ScriptedModelOptions,
  scriptedLogits,
} from './scripted-model.ts';
