// Starts a generation and waits for its first event, so that everything that can be refused is thrown where the AI SDK still
// retries or rejects, before there is a stream.

import type { LanguageModelV4CallOptions, SharedV4Warning } from '@ai-sdk/provider';
import type { PromptReadyEvent } from '@ortler/engine';
import { fromEngineError } from './from-engine-error.ts';
import { type AnswerEvent, type GenerationEngine, generateAnswer } from './generation-engine.ts';
import { toGenerationRequest } from './to-generation-request.ts';

export interface StartedAnswer {
  readonly warnings: readonly SharedV4Warning[];
  readonly prompt: PromptReadyEvent;
  /** All events after `prompt`. Ends with an error of the AI SDK or of the engine. */
  readonly events: AsyncGenerator<AnswerEvent, void, undefined>;
  /** Whether the caller's signal fired or `stop` was called. */
  readonly isAborted: () => boolean;
  /** Ends the generation within one step; legal at any time. */
  readonly stop: () => void;
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
    stop: () => own.abort(),
  };
}

async function* translateErrors(
  events: AsyncIterable<AnswerEvent>,
  translate: (error: unknown) => unknown,
): AsyncGenerator<AnswerEvent, void, undefined> {
  try {
    yield* events;
  } catch (error) {
    throw translate(error);
  }
}
