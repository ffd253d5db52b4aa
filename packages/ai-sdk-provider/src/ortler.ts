// The front door: an engine in this process -> a language model of the AI SDK.

import { InvalidArgumentError, type LanguageModelV4 } from '@ai-sdk/provider';
import { createLanguageModel } from './create-language-model.ts';
import type { EngineSource, GenerationEngine } from './generation-engine.ts';

export interface OrtlerModelSettings {
  /** Name of the model in responses and telemetry. Default: the architecture, such as `llama`. */
  readonly modelId?: string;
}

/**
 * The AI SDK's language model over an engine, without a server in between. The engine stays the caller's: it is not closed.
 * Throws: `InvalidArgumentError` for anything else.
 *
 * ```ts
 * const { text } = await generateText({ model: ortler(engine), prompt: 'What is the capital of France?' });
 * ```
 */
export function ortler(source: EngineSource, settings: OrtlerModelSettings = {}): LanguageModelV4 {
  // A caller without types gives a promise now and then.
  const engine: GenerationEngine | undefined = Object(source).engine ?? source;
  if (engine?.info === undefined || engine.generate === undefined)
    throw new InvalidArgumentError({
      argument: 'source',
      message: `ortler() takes an engine or a loaded model${source instanceof Promise ? '; await the promise first' : ''}.`,
    });
  return createLanguageModel(engine, {
    modelId: settings.modelId ?? engine.info.modelType,
    createResponseId: () => `ortler-${crypto.randomUUID()}`,
    now: () => new Date(),
  });
}
