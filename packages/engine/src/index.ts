// Public surface of @ortler/engine.

export {
  type ConstraintLimits,
  type ConstraintSpec,
  DEFAULT_CONSTRAINT_LIMITS,
  JSON_WHITESPACE,
  type JsonStyle,
  type JsonWhitespace,
} from '@ortler/structured-output';
export { createEngine } from './create-engine.ts';
export type {
  EncodePromptOptions,
  Engine,
  EngineHealth,
  EngineInfo,
  GenerateOptions,
} from './engine.ts';
export { EngineError, type EngineErrorCode, type EngineErrorDetails } from './errors.ts';
export { perplexity, type ScoredText, scoreTexts } from './perplexity.ts';
export type { BlocksRemoved, BlocksStored, CacheEvent } from './protocol/cache-event.ts';
export { checkIsObject, checkNames, checkOptions } from './protocol/check-options.ts';
export {
  type CoreLinkState,
  type CoreStats,
  STEP_SIZE_BOUNDS,
  type StepSizes,
} from './protocol/core-stats.ts';
export type { ConstraintOptions, EngineOptions } from './protocol/engine-options.ts';
export type { CoreFacts, WarmUpProgress } from './protocol/messages.ts';
export type { TuningOptions } from './protocol/options.ts';
export type {
  ChatContentPart,
  ChatMessage,
  ChatTemplateOptions,
  ChatToolCall,
} from './request/chat-message.ts';
export type { FinishReason, StopReason } from './request/finish-reason.ts';
export type {
  CandidateLogprob,
  ChoiceFinish,
  ConstraintPosition,
  GenerationEvent,
  PromptReadyEvent,
  PromptTiming,
  RequestFinishEvent,
  TokenDeltaEvent,
  TokenLogprob,
  TokenUsage,
  ToolCallDelta,
} from './request/generation-event.ts';
export type {
  BeamSearch,
  ChatPrompt,
  GenerationRequest,
  LogprobsRequest,
  Prompt,
  RepetitionDetection,
  StopConditions,
  TextPrompt,
  TokenPrompt,
} from './request/generation-request.ts';
export {
  REASONING_PARSERS,
  type ReasoningFormatName,
  type ReasoningParser,
} from './request/reasoning-parser.ts';
export {
  type LogitBias,
  NEUTRAL_SAMPLING,
  SAMPLING_PARAM_NAMES,
  type SamplingParams,
  validateSamplingParams,
} from './request/sampling-params.ts';
export { TOOL_DIALECT_OPTIONS, type ToolDialectOption } from './request/tool-dialect-option.ts';
export type { ToolChoice, ToolDefinition, ToolsRequest } from './request/tools.ts';
