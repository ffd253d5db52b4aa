// Starts one request on an engine and waits for its first event: whatever the engine refuses is thrown here, before a
// transport sends a status line. Chat and completions share it.

import type { GenerationEvent, GenerationRequest } from '@ortler/engine';
import { observeGeneration } from './chat/observe-generation.ts';
import { closingStream } from './closing-stream.ts';
import { openEngine, servedId } from './ready-engine.ts';
import type { ServedModel, Services } from './services.ts';

export interface EventsStart {
  readonly services: Pick<Services, 'generations' | 'now'>;
  readonly model: ServedModel;
  /** Unit: milliseconds since 1970. When the request came. */
  readonly startedAtMs: number;
  readonly signal: AbortSignal;
  /** What a thrown value of the engine is on the wire. */
  readonly toApiError: (error: unknown) => unknown;
}

/** All events, the first one included. Throws: every refusal; the events end with an `ApiError` when the engine fails. */
export async function startEvents(
  request: GenerationRequest,
  { services, model, startedAtMs, signal, toApiError }: EventsStart,
): Promise<AsyncGenerator<GenerationEvent, void, undefined>> {
  const { engine, release } = await openEngine(model, signal);
  const events = translateErrors(
    observeGeneration(engine.generate(request, { signal }), {
      services,
      modelId: servedId(model),
      choiceCount: request.choiceCount ?? 1,
      startedAtMs,
    }),
    toApiError,
  );
  try {
    const first = await events.next();
    return closingStream(events, { first, onClose: release });
  } catch (error) {
    release();
    throw error;
  }
}

async function* translateErrors<T>(
  events: AsyncIterable<T>,
  toApiError: (error: unknown) => unknown,
): AsyncGenerator<T, void, undefined> {
  try {
    yield* events;
  } catch (error) {
    throw toApiError(error);
  }
}
