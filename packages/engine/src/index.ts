// Public surface of @ortler/engine.

export {
  type ConstraintLimits,
  type ConstraintSpec,
  DEFAULT_CONSTRAINT_LIMITS,
  type JsonStyle,
} from '@ortler/structured-output';
export { createEngine } from './create-engine.ts';
export type { Engine, EngineHealth, EngineInfo, EngineOptions } from './engine.ts';
export { EngineError, type EngineErrorCode, type EngineErrorDetails } from './errors.ts';
export type { CoreLinkState } from './link/core-link.ts';
export type { CoreStats } from './protocol/core-stats.ts';
export type { CoreFacts, WarmUpProgress } from './protocol/messages.ts';
export type { ChatContentPart, ChatMessage, ChatTemplateOptions } from './request/chat-message.ts';
export type { FinishReason, StopReason } from './request/finish-reason.ts';
export type {
  CandidateLogprob,
  ChoiceFinish,
  GenerationEvent,
  PromptReadyEvent,
  PromptTiming,
  RequestFinishEvent,
  TokenDeltaEvent,
  TokenLogprob,
  TokenUsage,
} from './request/generation-event.ts';
export type {
  BeamSearch,
  GenerationRequest,
  LogprobsRequest,
  Prompt,
  RepetitionDetection,
  StopConditions,
} from './request/generation-request.ts';
export {
  type LogitBias,
  NEUTRAL_SAMPLING,
  type SamplingParams,
  validateSamplingParams,
} from './request/sampling-params.ts';
export {
  REASONING_PARSERS,
  type ReasoningFormatName,
  type ReasoningParser,
} from './text/reasoning/reasoning-format.ts';
export type { ConstraintOptions } from './text-side/constrained-requests.ts';
