// The part of an engine that a language model needs, and the only file that knows how the engine is called and which events
// it gives. Everything else reads `AnswerEvent`.

import type {
  Engine,
  EngineInfo,
  FinishReason,
  GenerationEvent,
  GenerationRequest,
  PromptReadyEvent,
  RequestFinishEvent,
  StopReason,
  TokenLogprob,
} from '@ortler/engine';

/** An engine of `@ortler/engine`, or anything that generates as one does. */
export interface GenerationEngine {
  readonly info: Pick<EngineInfo, 'modelType' | 'chatTemplate'>;
  readonly generate: Engine['generate'];
}

/** An engine, or a loaded model that has one. */
export type EngineSource = GenerationEngine | { readonly engine: GenerationEngine };

/** New tokens of the answer. The last one has `finish`. */
export interface AnswerDelta {
  readonly kind: 'token-delta';
  readonly text: string;
  readonly reasoning: string;
  readonly tokenIds: readonly number[];
  /** One for each of `tokenIds`; only when asked for. */
  readonly logprobs?: readonly TokenLogprob[];
  readonly finish: { readonly reason: FinishReason; readonly stopReason: StopReason } | null;
}

export type AnswerEvent = PromptReadyEvent | AnswerDelta | RequestFinishEvent;

/** The events of one answer. Throws: `EngineError`, those about the request before the first event. */
export async function* generateAnswer(
  engine: GenerationEngine,
  request: GenerationRequest,
  signal: AbortSignal,
): AsyncGenerator<AnswerEvent, void, undefined> {
  for await (const event of engine.generate(request, signal)) yield toAnswerEvent(event);
}

function toAnswerEvent(event: GenerationEvent): AnswerEvent {
  switch (event.kind) {
    case 'prompt-ready':
    case 'request-finish':
      return event;
    case 'token-delta':
      return { reasoning: '', finish: null, ...event };
    case 'choice-finish': {
      const { finishReason: reason, stopReason, ...delta } = event;
      return { reasoning: '', ...delta, kind: 'token-delta', finish: { reason, stopReason } };
    }
  }
}
