// Starts a generation and waits for its first event, so that everything that can be refused is thrown where the AI SDK still
// retries or rejects, before there is a stream.

import type { LanguageModelV4CallOptions, SharedV4Warning } from '@ai-sdk/provider';
import type { GenerationEvent, PromptReadyEvent } from '@ortler/engine';
import { fromEngineError } from './from-engine-error.ts';
import { type GenerationEngine, generateAnswer } from './generation-engine.ts';
import { toGenerationRequest } from './to-generation-request.ts';

export interface StartedAnswer {
  readonly warnings: readonly SharedV4Warning[];
  readonly prompt: PromptReadyEvent;
  /** All events after `prompt`. Ends with an error of the AI SDK or of the engine. */
  readonly events: AsyncGenerator<GenerationEvent, void, undefined>;
  /** Whether the caller's signal fired or `stop` was called. */
  readonly isAborted: () => boolean;
  /** Ends the generation within one step, also where no event was read; legal at any time. */
  readonly stop: () => Promise<void>;
}

/** Throws: every refusal of the request. */
export async function startAnswer(
  engine: GenerationEngine,
  modelId: string,
  options: LanguageModelV4CallOptions,
): Promise<StartedAnswer> {
  const { request, warnings } = toGenerationRequest(options, engine.info.chatTemplate);
  const own = new AbortController();
  const signal = AbortSignal.any([own.signal, ...(options.abortSignal ? [options.abortSignal] : [])]);
  const events = translateErrors(generateAnswer(engine, request, signal), error =>
    signal.aborted ? signal.reason : fromEngineError(error, { modelId, options }),
  );
  const { value: prompt } = await events.next();
  if (prompt?.kind !== 'prompt-ready') throw new Error('The engine did not begin with a prompt-ready event.');
  return {
    warnings,
    prompt,
    events,
    isAborted: () => signal.aborted,
    stop: async () => {
      own.abort();
      await events.return();
    },
  };
}

async function* translateErrors(
  events: AsyncIterable<GenerationEvent>,
  translate: (error: unknown) => unknown,
): AsyncGenerator<GenerationEvent, void, undefined> {
  try {
    yield* events;
  } catch (error) {
    throw translate(error);
  }
}
