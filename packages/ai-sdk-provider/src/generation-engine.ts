// The part of an engine that a language model needs, and the only file that calls it.

import type { Engine, EngineInfo, GenerationEvent, GenerationRequest } from '@ortler/engine';

/** An engine of `@ortler/engine`, or anything that generates as one does. */
export interface GenerationEngine {
  readonly info: Pick<EngineInfo, 'modelType' | 'chatTemplate'>;
  readonly generate: Engine['generate'];
}

/** An engine, or a loaded model that has one. */
export type EngineSource = GenerationEngine | { readonly engine: GenerationEngine };

/** The events of one answer. Throws: `EngineError`, those about the request before the first event. */
export function generateAnswer(
  engine: GenerationEngine,
  request: GenerationRequest,
  signal: AbortSignal,
): AsyncIterable<GenerationEvent> {
  return engine.generate(request, { signal });
}
