// The front door: an engine in this process -> a language model of the AI SDK.

import type { LanguageModelV4 } from '@ai-sdk/provider';
import { createLanguageModel } from './create-language-model.ts';
import type { EngineSource } from './generation-engine.ts';

export interface OrtlerModelSettings {
  /** Name of the model in responses and telemetry. Default: the architecture, such as `llama`. */
  readonly modelId?: string;
}

/**
 * The AI SDK's language model over an engine, without a server in between. The engine stays the caller's: it is not closed.
 *
 * ```ts
 * const { text } = await generateText({ model: ortler(engine), prompt: 'What is the capital of France?' });
 * ```
 */
export function ortler(source: EngineSource, settings: OrtlerModelSettings = {}): LanguageModelV4 {
  const engine = 'engine' in source ? source.engine : source;
  return createLanguageModel(engine, {
    modelId: settings.modelId ?? engine.info.modelType,
    createResponseId: () => `ortler-${crypto.randomUUID()}`,
    now: () => new Date(),
  });
}
