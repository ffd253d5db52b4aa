// Public surface of ortler.

import './check-node.ts';

export type {
  ChatMessage,
  EngineErrorCode,
  FinishReason,
  GenerationEvent,
  TokenUsage,
  ToolChoice,
  ToolDefinition,
  ToolsRequest,
} from '@ortler/engine';
export { EngineError } from '@ortler/engine';
export { type DownloadProgress, HubError, type HubErrorCode } from '@ortler/hub';
export { ModelBuildError, type ModelBuildErrorCode } from '@ortler/model-builder';
export { OrtError } from '@ortler/onnxruntime';
export { demoModel } from './demo-model.ts';
export { ObjectError, type ObjectErrorCode } from './errors.ts';
export type { GenerateOptions, Messages } from './generate-options.ts';
export { loadModel } from './load-model.ts';
export type { LoadModelOptions } from './load-model-options.ts';
export type { GeneratedObject, GeneratedText, GeneratedToolCall, Model } from './model.ts';
export type { JsonSchema, StandardSchema } from './object-schema.ts';
